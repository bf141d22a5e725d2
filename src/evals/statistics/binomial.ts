/** The binomial distribution, worked out with logarithms so that nothing overflows. */

/** The chance of `least` or more of `of`, each with the chance `share`. */
export function binomialAtLeast(least: number, of: number, share: number): number {
  if (least <= 0) return 1;
  if (least > of || share <= 0) return 0;
  if (share >= 1) return 1;
  const [logYes, logNo] = [Math.log(share), Math.log1p(-share)];
  let sum = 0;
  let term = logChoose(of, least) + least * logYes + (of - least) * logNo;
  for (let count = least; count <= of; count += 1) {
    sum += Math.exp(term);
    term += Math.log((of - count) / (count + 1)) + logYes - logNo;
  }
  return Math.min(1, sum);
}

/** The logarithm of the number of ways to choose. */
export function logChoose(of: number, count: number): number {
  return logFactorial(of) - logFactorial(count) - logFactorial(of - count);
}

/** Exact sums for small numbers, Stirling's series beyond: right to about twelve digits. */
const SUMMED = 32;

function logFactorial(n: number): number {
  if (n > SUMMED) {
    const inverse = 1 / n;
    return (
      n * Math.log(n) - n + Math.log(2 * Math.PI * n) / 2 + inverse / 12 - inverse ** 3 / 360 + inverse ** 5 / 1260
    );
  }
  let sum = 0;
  for (let factor = 2; factor <= n; factor += 1) sum += Math.log(factor);
  return sum;
}
