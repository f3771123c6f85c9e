/**
 * @module The room that the screen has, by its width. Tables, filters and the frame take their form from it. The
 * stylesheets have the same limit for phones.
 */

import { signal } from '@preact/signals';

/**
 * `phone` below 800 pixels; `tablet` below 1,088, where the navigation leaves a table the room of two-line rows; `wide`
 * from 1,440 on.
 */
type Room = 'phone' | 'tablet' | 'desk' | 'wide';

const PHONE = matchMedia('(width < 50rem)');
const TABLET = matchMedia('(width < 68rem)');
const WIDE = matchMedia('(width >= 90rem)');

const roomNow = (): Room => {
  if (PHONE.matches) return 'phone';
  if (TABLET.matches) return 'tablet';
  return WIDE.matches ? 'wide' : 'desk';
};

const room = signal<Room>(roomNow());

for (const width of [PHONE, TABLET, WIDE]) {
  width.addEventListener('change', () => {
    room.value = roomNow();
  });
}

export const isPhone = (): boolean => room.value === 'phone';

/** True if the rows of tables are two lines, each with a start and an end. */
export const hasTwoLineRows = (): boolean => room.value === 'phone' || room.value === 'tablet';

/** True if tables have room for every column. */
export const isWide = (): boolean => room.value === 'wide';
