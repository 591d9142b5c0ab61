/** What a thread of the floor does: nothing. */
export function identity(text) {
  return text;
}
