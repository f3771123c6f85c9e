import { payloadOf } from '../../shared/event-log/packed-payload.ts';
import type { Item } from '../../shared/platform/table.ts';

/** A stored item. The payload of a log entry is unpacked, so that a search finds what it holds. */
export const unpackedItem = (item: Item): Item =>
  item['sk'] === 'LOG' ? { ...item, payload: payloadOf(item['payload']) } : item;
