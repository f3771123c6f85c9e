import * as z from 'zod';
import { squareDisputeState, squareDisputeView, squareLocationOf } from '../views/money-back-views.ts';
import { squareNotFound } from '../wire/errors.ts';
import { readSquareQuery, squarePage } from '../wire/lists.ts';
import type { SquareReply, SquareRequest, SquareRoute } from '../wire/request.ts';

/** Disputes from the simulator's control routes and test cards. Evidence is not supported. */
export const squareDisputeRoutes: readonly SquareRoute[] = [
  { method: 'GET', path: '/v2/disputes', run: (request) => list(request) },
  { method: 'GET', path: '/v2/disputes/:id', run: (request) => read(request) },
];

const STATES = [
  'INQUIRY_EVIDENCE_REQUIRED',
  'INQUIRY_PROCESSING',
  'INQUIRY_CLOSED',
  'EVIDENCE_REQUIRED',
  'PROCESSING',
  'WON',
  'LOST',
  'ACCEPTED',
] as const;

const listFields = z.strictObject({
  cursor: z.string().optional(),
  states: z
    .string()
    .transform((states) => states.split(','))
    .pipe(z.array(z.enum(STATES)))
    .optional(),
  location_id: z.string().optional(),
});

/** The page has a fixed size. */
const DISPUTES_PER_PAGE = 20;
const MOST_LISTED = 100_000;

/** Newest first. */
const list = ({ call, unit }: SquareRequest): SquareReply => {
  const { cursor, states, location_id: location } = readSquareQuery(call, listFields);
  const wanted: readonly string[] = states ?? STATES;
  const found = unit.documents.disputes
    .list(unit.slot, { limit: MOST_LISTED })
    .filter((dispute) => wanted.includes(squareDisputeState(dispute)))
    .filter((dispute) => location === undefined || squareLocationOf(dispute, unit) === location);
  const { page, next } = squarePage(found, { size: DISPUTES_PER_PAGE, cursor });
  return { object: { disputes: page.map((dispute) => squareDisputeView(dispute, unit)), ...next } };
};

const read = ({ unit, id }: SquareRequest): SquareReply => {
  const dispute = unit.documents.disputes.get(unit.slot, id);
  if (!dispute) throw squareNotFound(`Could not find dispute with id: ${id}`, 'dispute_id');
  return { object: { dispute: squareDisputeView(dispute, unit) } };
};
