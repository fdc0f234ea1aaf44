// Passes requests on to a server and shows its token, for a client that cannot be told one.
import http from "node:http";

const [port, token] = process.argv.slice(2);
const proxy = http.createServer((request, response) => {
  const own = `:${proxy.address().port}`;
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  for (const name of ["host", "origin"]) {
    if (headers[name]) headers[name] = headers[name].replace(own, `:${port}`);
  }
  const options = { host: "127.0.0.1", port, method: request.method, path: request.url, headers };
  const onward = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  request.pipe(onward);
});
proxy.listen(0, "127.0.0.1", () => console.log(proxy.address().port));
