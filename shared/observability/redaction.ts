/**
 * What may be kept of a payload. Names that hold secrets or card data lose their values, wherever they stand; e-mail
 * addresses keep their first letter and domain.
 */
const SECRET_NAME =
  /secret|token|password|authorization|signature|cvc|cvv|api_?key|private|credential|^number$|card_?number|^pan$|client_key/i;
const EMAIL = /([\w.+-])[\w.+-]*@([\w-]+(?:\.[\w-]+)+)/g;
/** 13 to 19 digits, perhaps grouped: what a card number looks like. */
const CARD_NUMBER = /\b(?:\d[ -]?){12,18}\d\b/g;
const REDACTED = '[redacted]';
const MAX_TEXT = 1_000;

export const redacted = (value: unknown): unknown => {
  if (typeof value === 'string') {
    return value.slice(0, MAX_TEXT).replace(EMAIL, '$1***@$2').replace(CARD_NUMBER, REDACTED);
  }
  if (Array.isArray(value)) return value.map(redacted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      SECRET_NAME.test(name) && (typeof inner === 'string' || typeof inner === 'number') ? REDACTED : redacted(inner),
    ]),
  );
};
