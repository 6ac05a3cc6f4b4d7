// What changed in the hidden text field. Pure.

export interface Change {
  /** Characters to erase before the caret. */
  erase: number;
  insert: string;
}

/**
 * Compares the field before and after, with the caret at its end: the common
 * beginning stays, the rest was erased and typed anew. Counted in characters,
 * not in UTF-16 units.
 */
export function change(before: string, after: string): Change {
  const a = [...before];
  const b = [...after];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return { erase: a.length - same, insert: b.slice(same).join('') };
}
