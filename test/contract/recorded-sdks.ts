/**
 * @module The recorded behavior of the PayPal and Square SDKs. The recordings contain the SDKs' requests to the
 * simulator, the responses that the SDKs could read, and the fields and statuses of the SDKs' types.
 */
import * as z from 'zod';
import paypal from './recorded/paypal.json' with { type: 'json' };
import square from './recorded/square.json' with { type: 'json' };

const requestSchema = z.strictObject({
  /** The method, and the path with its query. */
  request: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  status: z.int(),
  /** The header `square-version` of the response. */
  version: z.string().optional(),
  response: z.unknown().optional(),
});
const controlSchema = z.strictObject({ control: z.string(), body: z.unknown().optional() });
const advanceSchema = z.strictObject({ advance: z.int() });
const deliveredSchema = z.strictObject({
  delivered: z.array(z.strictObject({ headers: z.record(z.string(), z.string()), body: z.string() })),
});
const stepSchema = z.union([requestSchema, controlSchema, advanceSchema, deliveredSchema]);
export type RecordedStep = z.infer<typeof stepSchema>;

const sdkSchema = z.strictObject({
  sdk: z.strictObject({ name: z.string(), version: z.string() }),
  types: z.record(
    z.string(),
    z.strictObject({ fields: z.array(z.string()), statuses: z.record(z.string(), z.array(z.string())) }),
  ),
  recordings: z.array(z.strictObject({ name: z.string(), steps: z.array(stepSchema) })),
});

export const RECORDED_SDKS = { PayPal: sdkSchema.parse(paypal), Square: sdkSchema.parse(square) } as const;
