/** @module Cuts texts to the length that a provider, a chat service or a list allows. */

/**
 * The first `most` code points of a text. A lone surrogate becomes U+FFFD, because providers, tables and signatures take only
 * well-formed text. Runs in time that is linear in `most`.
 */
export const cutText = (text: string, most: number): string => {
  if (text.length <= most) return text.toWellFormed();
  let units = 0;
  let points = 0;
  for (const point of text) {
    if (points === most) break;
    units += point.length;
    points += 1;
  }
  return text.slice(0, units).toWellFormed();
};
