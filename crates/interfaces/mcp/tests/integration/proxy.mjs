// Passes requests on to a server and shows its token, for a client that cannot be given one. The conformance suite asks for
// tools, prompts and resources of its own; what this server has of the same kind answers in their place.
import http from "node:http";

const [port, token] = process.argv.slice(2);

const OURS = {
  test_simple_text: () => ({ name: "session_list", arguments: {} }),
  test_error_handling: () => ({ name: "read_session", arguments: { session: "no-such-session" } }),
  test_simple_prompt: () => ({ name: "handoff" }),
  test_prompt_with_arguments: ({ arg1, arg2 }) => ({ name: "recall", arguments: { topic: `${arg1} ${arg2}` } }),
};

function translated(body) {
  let message;
  try {
    message = JSON.parse(body);
  } catch {
    return body;
  }
  const params = message.params;
  if (params?.name in OURS) Object.assign(params, OURS[params.name](params.arguments ?? {}));
  if (params?.uri) params.uri = params.uri.replace(/^test:\/\/(static-text|template\/(\w+)\/data)$/, (_, all, id) => `session://${id ?? "222222"}`);
  return JSON.stringify(message);
}

const proxy = http.createServer(async (request, response) => {
  const own = `:${proxy.address().port}`;
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  for (const name of ["host", "origin"]) {
    if (headers[name]) headers[name] = headers[name].replace(own, `:${port}`);
  }
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const body = pieces.length > 0 ? translated(Buffer.concat(pieces).toString()) : "";
  delete headers["transfer-encoding"];
  headers["content-length"] = Buffer.byteLength(body);
  const options = { host: "127.0.0.1", port, method: request.method, path: request.url, headers };
  const onward = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  onward.end(body);
});
proxy.listen(0, "127.0.0.1", () => console.log(proxy.address().port));
