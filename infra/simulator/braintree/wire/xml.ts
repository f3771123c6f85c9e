/** In Braintree's XML, names have dashes, every value except text has a type, and null is `nil`. */
export type XmlValue =
  | string
  | number
  | boolean
  | null
  | Date
  | readonly XmlItem[]
  | { readonly [name: string]: XmlValue };
interface XmlItem {
  readonly item: string;
  readonly value: XmlValue;
}

export const xml = (name: string, value: XmlValue): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${element(name, value)}`;

const element = (name: string, value: XmlValue): string => {
  if (value === null) return `<${name} nil="true"/>`;
  if (typeof value === 'string') return `<${name}>${escaped(value)}</${name}>`;
  if (typeof value === 'number') return `<${name} type="integer">${value}</${name}>`;
  if (typeof value === 'boolean') return `<${name} type="boolean">${value}</${name}>`;
  if (value instanceof Date) return `<${name} type="datetime">${value.toISOString()}</${name}>`;
  if (isList(value))
    return `<${name} type="array">${value.map(({ item, value }) => element(item, value)).join('')}</${name}>`;
  return `<${name}>${Object.entries(value)
    .map(([inner, innerValue]) => element(inner, innerValue))
    .join('')}</${name}>`;
};

const isList = (value: object): value is readonly XmlItem[] => Array.isArray(value);

/** Omits characters that XML cannot represent. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[^\t\n\r -\u{10FFFF}]/gu, '');
