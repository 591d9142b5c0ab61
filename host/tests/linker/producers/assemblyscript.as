// The core module of a component over plain types, with strings as AssemblyScript has them: in UTF-16.
// @ts-ignore: decorator
@external("test:far/far", "shout")
declare function farShout(data: usize, length: i32, answer: usize): void;

const answer = memory.data(16, 8);

export function cabi_realloc(old: usize, oldSize: usize, align: usize, size: usize): usize {
  const at = heap.alloc(size + align);
  return (at + align - 1) & ~(align - 1);
}

function read(data: usize, length: i32): string {
  return String.UTF16.decodeUnsafe(data, length << 1);
}

function give(text: string): usize {
  const at = cabi_realloc(0, 0, 2, text.length << 1);
  String.UTF16.encodeUnsafe(changetype<usize>(text), text.length, at);
  store<u32>(answer, at as u32);
  store<u32>(answer, text.length, 4);
  return answer;
}

export function reverse(data: usize, length: i32): usize {
  return give(read(data, length).split("").reverse().join(""));
}

export function cabi_post_reverse(at: usize): void {
  store<u32>(at, 0, 4);
}

export function shout(data: usize, length: i32): usize {
  farShout(data, length, answer);
  return answer;
}

export function sum(data: usize, length: i32): i64 {
  let total: i64 = 0;
  for (let i = 0; i < length; i++) total += load<i32>(data + (i << 2));
  return total;
}

export function points(data: usize, length: i32): usize {
  for (let i = 0; i < length; i++) {
    const at = data + (i << 4);
    store<f64>(at, load<f64>(at) * 2);
  }
  store<u32>(answer, data as u32);
  store<u32>(answer, length, 4);
  return answer;
}

export function divide(a: f32, b: f32): usize {
  if (b != 0) {
    store<u8>(answer, 0);
    store<f32>(answer, a / b, 4);
    return answer;
  }
  const text = "by zero";
  const at = cabi_realloc(0, 0, 2, text.length << 1);
  String.UTF16.encodeUnsafe(changetype<usize>(text), text.length, at);
  store<u8>(answer, 1);
  store<u32>(answer, at as u32, 4);
  store<u32>(answer, text.length, 8);
  return answer;
}
