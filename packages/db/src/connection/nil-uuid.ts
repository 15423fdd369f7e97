/** The smallest UUID. In sums it stands for an id that a line does not have. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';
