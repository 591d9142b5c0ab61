import type { RunEvent } from "./provider.ts";

/** What an event is at an endpoint. */
export interface Encoded<Message> {
  readonly message: Message;
  /** What it takes while it waits. */
  readonly bytes: number;
}

/**
 * Where the events of one run go: what a face implements for its protocol, once for each run. A gate calls it with one message at a
 * time, in order, and never after the end.
 */
export interface Endpoint<Message = unknown> {
  /**
   * The event as it is sent; `sequence` counts from 1. Null for an event that has no place in the protocol. What it throws for an event that
   * cannot be said ends the run as `provider-failed`.
   */
  encode(event: RunEvent, sequence: number): Encoded<Message> | null;
  /** Sends. A promise: the next message waits for it. What throws or rejects means that whoever it was for is gone. */
  send(message: Message): Promise<void> | null;
  /** The terminal event has been sent. Settles once whoever it was for can have everything. */
  end(): Promise<void> | null;
  /** Calls `gone` when whoever the run was for has left, at once if that was before. Answers how to stop watching. */
  watch(gone: (message: string) => void): () => void;
}
