/* Cells on a lattice: they move, divide and cannot pass through one another. Answers requests of the protocol `lines`. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 30, HIGH = 20, SITES = WIDE * HIGH, START = 100, STRIP = 10, PICTURES = 3, STEPS = 48, FAR = 20 };

static uint64_t state;

/* splitmix64: one addition and two multiplications a number, good for far more than a simulation needs. */
static uint64_t next(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(void) { return (double)(next() >> 11) * 0x1p-53; }

static int below(int n) { return (int)(((next() >> 32) * (uint64_t)n) >> 32); }

static char full[SITES];
static int cells[SITES], count;

/* One of the four neighbours of a site, or -1 beyond the edge. */
static int neighbour(int site) {
    int x = site % WIDE, y = site / WIDE;
    switch (below(4)) {
    case 0: return x + 1 < WIDE ? site + 1 : -1;
    case 1: return x > 0 ? site - 1 : -1;
    case 2: return y + 1 < HIGH ? site + WIDE : -1;
    default: return y > 0 ? site - WIDE : -1;
    }
}

/* As many attempts to move as there are cells, and then as many to divide; what is full stays as it is. */
static void step(double move, double divide) {
    for (int left = count; left > 0; left--) {
        int which = below(count);
        int to = uniform() < move ? neighbour(cells[which]) : -1;
        if (to >= 0 && !full[to]) {
            full[cells[which]] = 0;
            full[to] = 1;
            cells[which] = to;
        }
    }
    for (int left = count; left > 0; left--) {
        int to = uniform() < divide ? neighbour(cells[below(count)]) : -1;
        if (to >= 0 && !full[to]) {
            full[to] = 1;
            cells[count++] = to;
        }
    }
}

/* Pairs that are so many columns apart, in any rows, over what there would be if cells were thrown at random. */
static double pairs(const int *column, int far) {
    double found = 0;
    for (int x = 0; x + far < WIDE; x++) found += (double)column[x] * column[x + far];
    double full_everywhere = (double)HIGH * HIGH * (WIDE - far), share = (double)count / SITES;
    return found / (full_everywhere * share * share);
}

/* A picture in numbers: the cells, and pairs at every distance. */
static void look(const char *comma) {
    int column[WIDE] = {0};
    for (int i = 0; i < count; i++) column[cells[i] % WIDE]++;
    printf("%s%d", comma, count);
    for (int far = 1; far <= FAR; far++) printf(", %.17g", pairs(column, far));
}

static double number(const char *line, const char *key) {
    const char *at = strstr(line, key);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

int main(void) {
    char line[4096];
    printf("{\"ready\": true, \"statistics\": [");
    for (int picture = 1; picture <= PICTURES; picture++) {
        printf("%s\"cells@%d\"", picture > 1 ? ", " : "", 4 * picture);
        for (int far = 1; far <= FAR; far++) printf(", \"pairs%d@%d\"", far, 4 * picture);
    }
    printf("]}\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        double move = number(line, "\"motility\":"), divide = number(line, "\"division\":");
        state = (uint64_t)number(line, "\"seed\":");
        memset(full, 0, sizeof full);
        for (count = 0; count < START;) {
            int site = below(HIGH) * WIDE + below(STRIP); /* the rest of the dish has been scraped clean */
            if (!full[site]) full[cells[count++] = site] = 1;
        }
        printf("{\"id\": %.0f, \"statistics\": [", number(line, "\"id\":"));
        for (int picture = 1; picture <= PICTURES; picture++) {
            for (int at = 0; at < STEPS; at++) step(move, divide);
            look(picture > 1 ? ", " : "");
        }
        printf("]}\n");
        fflush(stdout);
    }
    return 0;
}
