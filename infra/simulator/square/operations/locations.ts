import { squareNotFound } from '../wire/errors.ts';
import { LOCATION_CURRENCY, type SquareReply, type SquareRequest, type SquareRoute } from '../wire/request.ts';

const LOCATION = 'LOCAL';
/** Square's own name for a seller's first location. */
const MAIN = 'main';

export const locationRoutes: readonly SquareRoute[] = [
  { method: 'GET', path: '/v2/locations/:id', run: (request) => read(request) },
];

const read = ({ id }: SquareRequest): SquareReply => {
  if (id !== LOCATION && id !== MAIN) throw squareNotFound('Location not found.', 'location_id');
  return { object: { location: LOCATION_VIEW } };
};

const LOCATION_VIEW = {
  id: LOCATION,
  name: 'Local shop',
  capabilities: ['CREDIT_CARD_PROCESSING'],
  status: 'ACTIVE',
  created_at: '2024-01-01T00:00:00Z',
  merchant_id: 'SQMERCHANT',
  country: 'US',
  language_code: 'en-US',
  currency: LOCATION_CURRENCY,
  type: 'PHYSICAL',
};
