import { once } from "node:events";
import { type AddressInfo, createServer as createPlainServer, type Server, type Socket } from "node:net";
import { createServer as createSecureServer, type TlsOptions } from "node:tls";

/** What a server does with a connection once a whole request has come over it. */
export type Answering = (socket: Socket, request: string) => void;

/** A server on loopback that reads requests as text and answers with whatever bytes a test wants. */
export class RawServer {
  /** Head and body of each, in latin1. */
  readonly requests: string[] = [];
  connections = 0;
  /** How it answers. */
  answer: Answering;
  /** Sent as soon as a connection is there, before any request. */
  greeting = "";
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #gone: (() => void)[] = [];

  private constructor(answer: Answering, tls: TlsOptions | null) {
    this.answer = answer;
    const serve = (socket: Socket): void => this.#serve(socket);
    this.#server = tls === null ? createPlainServer(serve) : createSecureServer(tls, serve);
    this.#server.on("connection", () => {
      this.connections += 1;
    });
  }

  static async start(
    answer: Answering,
    place: { tls?: TlsOptions; host?: string; port?: number } = {},
  ): Promise<RawServer> {
    const server = new RawServer(answer, place.tls ?? null);
    server.#server.listen(place.port ?? 0, place.host ?? "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that are open. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Resolves when no connection is open. */
  async idle(): Promise<void> {
    while (this.#sockets.size > 0) await new Promise<void>((resolve) => this.#gone.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket.setNoDelay(true));
    socket.on("error", () => {});
    socket.once("close", () => {
      this.#sockets.delete(socket);
      for (const resolve of this.#gone.splice(0)) resolve();
    });
    if (this.greeting !== "") socket.end(this.greeting);
    let text = "";
    let answered = false;
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (answered || end < 0) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      answered = true;
      this.requests.push(text);
      this.answer(socket, text);
    });
  }
}

/** Sends a whole answer and closes. */
export function answering(status: string, headers: readonly string[], body = ""): Answering {
  const head = [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${Buffer.byteLength(body)}`, "", ""].join("\r\n");
  return (socket) => socket.end(head + body);
}

/** Sends bytes as they are, and closes when `end` is true. */
export function sending(text: string, end = true): Answering {
  return (socket) => {
    socket.write(text, "latin1");
    if (end) socket.end();
  };
}
