/**
 * @module The screen's width class. Tables, filters and the frame adapt to it. The stylesheets use the same limit for
 * phones.
 */

import { signal } from '@preact/signals';

/**
 * `phone` is below 800 pixels. `tablet` is below 1,088, where tables have two-line rows next to the navigation. `wide`
 * starts at 1,440.
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

/** True if table rows have two lines, each with a left and a right part. */
export const hasTwoLineRows = (): boolean => room.value === 'phone' || room.value === 'tablet';

/** True if every column fits. */
export const isWide = (): boolean => room.value === 'wide';
