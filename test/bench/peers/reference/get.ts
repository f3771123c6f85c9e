/** @module GET /payments/{id}. */
import { api, json } from './api.ts';
import { loadPayment, view } from './payment.ts';

export const handler = api(
  async ({ pathParameters, requestContext }, session) => {
    const payment = await loadPayment(pathParameters?.['id'] ?? '', session);
    return json(200, { success: true, data: view(payment) }, requestContext.requestId);
  },
  { hasBody: false },
);
