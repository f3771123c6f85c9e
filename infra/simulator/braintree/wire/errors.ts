import { type Answer, Refused } from '../../protocol/vendor.ts';
import { type XmlValue, xml } from './xml.ts';

export const emptyAnswer = (status: number): Answer => ({ status, body: '', began: false });

export const xmlAnswer = (status: number, name: string, value: XmlValue): Answer => ({
  status,
  body: xml(name, value),
  began: true,
});

/** The response to an invalid field: 422 with the field's error number. */
export const invalidField = (attribute: string, code: string, message: string): Refused =>
  new Refused(
    xmlAnswer(422, 'api-error-response', {
      errors: {
        errors: [],
        customer: { errors: [{ item: 'error', value: { code, attribute, message } }] },
      },
      message,
    }),
  );
