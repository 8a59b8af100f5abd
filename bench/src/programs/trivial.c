/* The least that a simulator of the protocol `lines` can do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char line[4096];
    puts("{\"ready\": true, \"statistics\": [\"a\", \"b\"]}");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        long id = atol(strstr(line, "\"id\":") + 5);
        double k = atof(strstr(line, "\"k\":") + 4);
        printf("{\"id\": %ld, \"statistics\": [%.17g, %.17g]}\n", id, k, 2 * k);
        fflush(stdout);
    }
    return 0;
}
