/** The sort key of the items in the test table's stream. */
export const STREAMED = 'PAY';
