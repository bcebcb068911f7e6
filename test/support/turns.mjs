/** One output for concurrent writers: the first writes at once, each of the others when the earlier ones have ended. */
export function turns(count, write) {
  const writers = Array.from({ length: count }, () => ({ held: '', ended: false }));
  let turn = 0;
  return writers.map((writer, index) => ({
    write(text) {
      if (index === turn) write(text);
      else writer.held += text;
    },
    end() {
      writer.ended = true;
      while (writers[turn]?.ended) {
        turn++;
        if (turn < count) write(writers[turn].held);
      }
    },
  }));
}
