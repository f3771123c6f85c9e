/** The test table's stream contains only items with this sort key. */
export const STREAMED = 'PAY';
