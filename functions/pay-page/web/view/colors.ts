/** @module The seller's color, with a readable text color on it. */

const CHANNEL = /[0-9a-f]{2}/gi;
const DARK_INK = '#000000';
const LIGHT_INK = '#ffffff';

/** Relative luminance as WCAG defines it, from 0 (black) to 1 (white). */
const luminance = (color: string): number => {
  const [red = 0, green = 0, blue = 0] = (color.match(CHANNEL) ?? []).map((hex) => {
    const part = Number.parseInt(hex, 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const contrast = (one: string, other: string): number => {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};

/** The text color with the higher contrast (at least 4.5 on every color). */
const inkOn = (color: string): string =>
  contrast(color, LIGHT_INK) >= contrast(color, DARK_INK) ? LIGHT_INK : DARK_INK;

/** Sets the color by script, because the content security policy forbids style attributes. */
export const setColor = (color: string): void => {
  if (!/^#[0-9a-f]{6}$/i.test(color)) return;
  const { style } = document.documentElement;
  style.setProperty('--accent', color);
  style.setProperty('--accent-ink', inkOn(color));
};
