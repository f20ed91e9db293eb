declare module "docker-modem/lib/http.js" {
  const http: { maxRedirects: number };
  export = http;
}
