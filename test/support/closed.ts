interface Closing {
  once(event: "close", listener: () => void): unknown;
}

/** Resolves when a connection has closed, also if the other end reset it, where `once` of Node.js rejects. */
export function closed(connection: Closing): Promise<void> {
  return new Promise((resolve) => {
    connection.once("close", () => resolve());
  });
}
