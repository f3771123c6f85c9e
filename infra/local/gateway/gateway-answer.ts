import * as z from 'zod';

/** An HTTP response, converted from a function's result in payload format 2.0. */
export interface GatewayAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

const structuredSchema = z.object({
  statusCode: z.int().min(200).max(599),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish(),
  cookies: z.array(z.string()).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

export const INTERNAL_ERROR: GatewayAnswer = plainAnswer(500, 'Internal Server Error');

/** A response by the gateway itself, with AWS's body format instead of the service's. */
export function plainAnswer(status: number, message: string): GatewayAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify({ message })) };
}

export const gatewayAnswer = (returned: unknown): GatewayAnswer => {
  if (returned === undefined) return INTERNAL_ERROR;
  if (typeof returned !== 'object' || returned === null || !('statusCode' in returned)) return inferred(returned);
  const parsed = structuredSchema.safeParse(returned);
  if (!parsed.success) return INTERNAL_ERROR;
  const { statusCode, headers, cookies, body, isBase64Encoded } = parsed.data;
  const lowered = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]);
  return {
    status: statusCode,
    headers: {
      ...(body && { 'content-type': 'text/plain;charset=UTF-8' }),
      ...Object.fromEntries(lowered),
      ...(cookies && cookies.length > 0 && { 'set-cookie': cookies }),
    },
    body: Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8'),
  };
};

/** A result without a status becomes a 200 with the result as JSON. */
const inferred = (returned: unknown): GatewayAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(typeof returned === 'string' ? returned : JSON.stringify(returned)),
});
