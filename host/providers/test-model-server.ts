import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A request as the server got it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The JSON of its body; null for none. */
  readonly body: Readonly<Record<string, unknown>> | null;
  /** Settles when the connection is gone, whoever closed it. */
  readonly closed: Promise<void>;
}

/** What a server that keeps to its protocol answers: a head, and the frames of its body. */
export interface ProtocolAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly frames: readonly string[];
}

/** How an answer is sent. A fault is another way to send it. */
export type Delivery = (
  response: ServerResponse,
  answer: ProtocolAnswer,
  request: ReceivedRequest,
) => Promise<void> | void;

/** A model's answer, in the server's hands. */
export interface ModelScript {
  readonly pieces: readonly string[];
  readonly thinking?: readonly string[];
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
  /** An error in the middle of the stream, after all pieces. */
  readonly error?: string;
}

/** A loopback HTTP server that speaks the protocol of a server of models, whole or with faults. */
export class ModelServer {
  readonly requests: ReceivedRequest[] = [];
  /** What the model says next. */
  script: ModelScript = { pieces: ["Gr", "üße, ", "世界", " 🌍", "!"] };
  /** How all answers are sent. */
  delivery: Delivery = whole;
  readonly #server: Server;
  readonly #respond: (request: ReceivedRequest, script: ModelScript) => ProtocolAnswer;
  readonly #sockets = new Set<Socket>();
  #arrived: (() => void)[] = [];

  constructor(respond: (request: ReceivedRequest, script: ModelScript) => ProtocolAnswer) {
    this.#respond = respond;
    this.#server = createServer((incoming, response) => void this.#serve(incoming, response));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket.setNoDelay(true));
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** The request with that number, once it is there. */
  async request(number = 0): Promise<ReceivedRequest> {
    while (this.requests.length <= number) await new Promise<void>((resolve) => this.#arrived.push(resolve));
    return this.requests[number]!;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes: Buffer[] = [];
    for await (const piece of incoming) bytes.push(piece as Buffer);
    const text = Buffer.concat(bytes).toString();
    const request: ReceivedRequest = {
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      headers: incoming.headers,
      body: text === "" ? null : (JSON.parse(text) as Record<string, unknown>),
      closed: new Promise((resolve) => incoming.socket.once("close", () => resolve())),
    };
    this.requests.push(request);
    const arrived = this.#arrived;
    this.#arrived = [];
    for (const tell of arrived) tell();
    await this.delivery(response, this.#respond(request, this.script), request);
  }
}

/** Each frame by itself, as a server that streams sends them. */
export const whole: Delivery = async (response, answer) => {
  head(response, answer);
  for (const frame of answer.frames) await write(response, frame);
  response.end();
};

/** Frames in writes of so many bytes, whatever they cut in two. */
export function inPieces(size: number): Delivery {
  return async (response, answer) => {
    head(response, answer);
    const bytes = Buffer.from(answer.frames.join(""));
    for (let start = 0; start < bytes.length; start += size) await write(response, bytes.subarray(start, start + size));
    response.end();
  };
}

/** So many frames, then the connection is gone. */
export function brokenAfter(frames: number): Delivery {
  return async (response, answer) => {
    head(response, answer);
    for (const frame of answer.frames.slice(0, frames)) await write(response, frame);
    response.socket!.destroy();
  };
}

/** So many frames, then a body that ends as if that were all. */
export function endedAfter(frames: number): Delivery {
  return async (response, answer) => {
    head(response, answer);
    for (const frame of answer.frames.slice(0, frames)) await write(response, frame);
    response.end();
  };
}

/** So many frames, then nothing until `go` settles; then the rest. */
export function heldAfter(frames: number, go: Promise<void> = new Promise(() => {})): Delivery {
  return async (response, answer) => {
    head(response, answer);
    for (const frame of answer.frames.slice(0, frames)) await write(response, frame);
    await go;
    for (const frame of answer.frames.slice(frames)) await write(response, frame);
    response.end();
  };
}

/** Another frame in the place of the one with that number. */
export function withFrame(number: number, frame: string | Buffer): Delivery {
  return async (response, answer) => {
    head(response, answer);
    for (const [index, each] of answer.frames.entries()) await write(response, index === number ? frame : each);
    response.end();
  };
}

/** Any head, any body. */
export function instead(status: number, headers: Readonly<Record<string, string>>, body: string | Buffer): Delivery {
  return (response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
}

/** Bytes on the socket, past all that HTTP wants. */
export function onTheWire(bytes: string): Delivery {
  return (response) => {
    response.socket!.end(bytes);
  };
}

function head(response: ServerResponse, { status, contentType }: ProtocolAnswer): void {
  response.writeHead(status, { "content-type": contentType });
  response.flushHeaders();
}

/** Answers after a turn of the event loop, so that pieces leave apart. */
async function write(response: ServerResponse, bytes: string | Buffer): Promise<void> {
  response.write(bytes);
  await new Promise((resolve) => setImmediate(resolve));
}
