/** The contents of a test's deployment file. */
export interface WebFile {
  /** The highest price of one replica, in utoken per block. */
  readonly maxPrice?: number;
  readonly count?: number;
  /** Served as the page. */
  readonly page?: string;
  /** Name of the one service. */
  readonly service?: string;
}

/** A deployment file with one small web service that serves a page. */
export function webFile({ maxPrice = 1000, count = 1, page = "hello", service = "web" }: WebFile = {}): string {
  return `version: "2.0"
services:
  ${service}:
    image: localhost/svc-sample:latest
    command: ["sh", "-c"]
    args:
      - mkdir -p /tmp/www && echo '${page}' > /tmp/www/index.html && exec httpd -f -p 80 -h /tmp/www
    expose:
      - port: 80
        as: 80
        to:
          - global: true
profiles:
  compute:
    small:
      resources:
        cpu:
          units: 0.1
        memory:
          size: 16Mi
        storage:
          size: 16Mi
  placement:
    anywhere:
      pricing:
        small:
          denom: utoken
          amount: ${maxPrice}
deployment:
  ${service}:
    anywhere:
      profile: small
      count: ${count}
`;
}
