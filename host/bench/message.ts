/** What the benches send: one JSON object as a request of everyday size. */
export const MESSAGE = {
  order: "2f1c-77",
  customer: "Ada Lovelace",
  lines: [
    { sku: "A-100", quantity: 2, price: 19.9 },
    { sku: "B-205", quantity: 1, price: 4.5 },
  ],
  paid: true,
};

export const MESSAGE_TEXT = JSON.stringify(MESSAGE);
