import { payloadOf } from '../../shared/event-log/packed-payload.ts';
import type { Item } from '../../shared/platform/table.ts';

/** A stored item with the unpacked payload of a log entry, so that tests can search its text. */
export const unpackedItem = (item: Item): Item =>
  item['sk'] === 'LOG' ? { ...item, payload: payloadOf(item['payload']) } : item;
