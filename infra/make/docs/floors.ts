import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';

/**
 * The floors of `shared/` in `floors.json`, from the ground up. A floor is one room, or several neighbors without
 * imports of each other.
 */
const floorsSchema = z.record(z.string(), z.array(z.union([z.string(), z.array(z.string())])));
export type Floors = z.infer<typeof floorsSchema>;

export const readFloors = (): Floors =>
  floorsSchema.parse(JSON.parse(readFileSync(join(resolve(import.meta.dirname, '../../..'), 'floors.json'), 'utf8')));

const AREA = 'shared';

const GROUPS = {
  Edges: ['event-log', 'removal', 'webhooks', 'queries', 'workers', 'admin', 'console', 'openapi', 'hosted-pages'],
  Money: ['calls', 'catalog', 'discounts', 'payment-links', 'payment-methods', 'payments', 'subscriptions'],
  People: ['organizations', 'customers', 'memberships'],
  Platform: ['core', 'platform', 'access', 'http', 'providers'],
} as const;

/** The list and the drawing of docs/architecture.md. */
export const floorParts = (): Readonly<Record<string, string>> => {
  const rows = (readFloors()[AREA] ?? []).map((row) => [row].flat());
  return { floors: floorList(rows), 'floors-drawing': floorDrawing(rows) };
};

const floorList = (rows: readonly (readonly string[])[]): string =>
  [
    '| Floor | Rooms of `shared/` |',
    '|---|---|',
    ...rows.map((row, index) => `| ${index + 1} | ${row.map((room) => `\`${room}\``).join(' · ')} |`),
  ].join('\n');

/** Draws the rooms with their floor numbers, by group. */
const floorDrawing = (rows: readonly (readonly string[])[]): string => {
  const floorOf = new Map(rows.flatMap((row, index) => row.map((room) => [room, index + 1] as const)));
  const groups = Object.entries(GROUPS).flatMap(([group, rooms]) => [
    `  subgraph ${group}`,
    ...rooms.map((room) => `    ${room}["${floorOf.get(room)} · ${room}"]`),
    '  end',
  ]);
  return ['```mermaid', 'flowchart TB', ...groups, '  Edges --> Money --> People --> Platform', '```'].join('\n');
};
