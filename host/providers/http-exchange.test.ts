import { createServer, type RequestOptions } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, vi } from "vitest";
import { exchange } from "./http-exchange.ts";
import { StopSignal } from "./run-signal.ts";

const sent = vi.hoisted((): RequestOptions[] => []);
vi.mock("node:http", async (original) => {
  const http = await original<typeof import("node:http")>();
  const request = (url: URL, options: RequestOptions) => {
    sent.push(options);
    return http.request(url, options);
  };
  return { ...http, request };
});

it("exchange() sets no timeout, and waits for an address of the server as long as it is silent", async () => {
  const server = createServer((_, response) => response.end("x")).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const answer = await exchange({ method: "GET", url, headers: {} }, new StopSignal());
  expect(answer.status).toBe(200);
  answer.close();
  server.close();
  expect(sent).toHaveLength(1);
  expect(sent[0]).not.toHaveProperty("timeout");
  // No agent of Node's, which has one of five seconds, and the longest time that a timer of Node can have.
  expect(sent[0]).toMatchObject({ agent: false, autoSelectFamilyAttemptTimeout: 2 ** 31 - 1 });
});
