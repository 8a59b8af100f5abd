#!/bin/sh
# Twenty sequences traced back to their common ancestor. Arguments: theta, seed. Prints names and values of the statistics.
# Going back, the next thing that happens to j lineages is a mutation with probability theta / (theta + j - 1), and else two
# of them meet; how long it takes does not matter for what is counted here.
exec awk -v theta="$1" -v seed="$2" 'BEGIN {
  srand(seed)
  n = 20
  for (i = 1; i <= n; i++) size[i] = 1            # sequences that descend from each lineage
  for (j = n; j > 1;) {
    i = int(j * rand()) + 1
    if (rand() < theta / (theta + j - 1)) {
      sites++
      if (size[i] == 1) singletons++
      differences += size[i] * (n - size[i]) * 2 / (n * (n - 1))
    } else {
      other = int((j - 1) * rand()) + 1
      if (other >= i) other++
      size[i] += size[other]
      size[other] = size[j]
      j--
    }
  }
  print "sites,singletons,differences"
  printf "%d,%d,%.12g\n", sites, singletons, differences
}'
