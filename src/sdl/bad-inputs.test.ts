import { describe, expect, it } from "vitest";
import { SDL_CODES, SdlError, type SdlErrorKind, type SdlIssue } from "./errors.ts";
import { loadSdl } from "./load.ts";

/** A valid file with most kinds of keys; each row of the table breaks it in one place. */
const SAMPLE = `version: "2.0"
services:
  web:
    image: docker.io/library/nginx:1.27
    env:
      - MODE=production
    params:
      storage:
        data:
          mount: /data
    expose:
      - port: 8080
        as: 80
        accept:
          - shop.example.com
        to:
          - global: true
  db:
    image: docker.io/library/postgres:16
    expose:
      - port: 5432
        to:
          - service: web
profiles:
  compute:
    large:
      resources:
        cpu:
          units: 0.5
        memory:
          size: 512Mi
        storage:
          - size: 1Gi
          - name: data
            size: 10Gi
            attributes:
              persistent: true
              class: beta2
    small:
      resources:
        cpu: {units: "100m"}
        memory: {size: 64Mi}
        storage: {size: 64Mi}
  placement:
    anywhere:
      attributes:
        region: eu-west
      signedBy:
        anyOf:
          - svc1auditor
      pricing:
        large: {denom: utoken, amount: 100}
        small: {denom: utoken, amount: 50.5}
deployment:
  web:
    anywhere:
      profile: large
      count: 2
  db:
    anywhere: {profile: small, count: 1}
`;

interface Row {
  readonly from: string;
  readonly to: string;
  /** Line and column of the first fault. */
  readonly at: string;
  readonly kind: SdlErrorKind;
  /** Path, problem and remedy. */
  readonly says: string;
}

const ROWS: readonly Row[] = [
  {
    from: 'version: "2.0"',
    to: 'version: "2.2"',
    at: "1:10",
    kind: "version",
    says: 'version: "2.2" is not a supported version; write version: "2.0" or version: "2.1"',
  },
  {
    from: 'version: "2.0"',
    to: "version: v2",
    at: "1:10",
    kind: "version",
    says: 'version: "v2" is not a supported version; write version: "2.0" or version: "2.1"',
  },
  {
    from: 'version: "2.0"\n',
    to: "",
    at: "1:1",
    kind: "missing",
    says: '"version" is missing; write version: "2.0" or version: "2.1"',
  },
  {
    from: 'version: "2.0"',
    to: "version: [2]",
    at: "1:1",
    kind: "version",
    says: 'version: a list is not a supported version; write version: "2.0" or version: "2.1"',
  },
  {
    from: "services:\n  web:",
    to: "servcies:\n  web:",
    at: "2:1",
    kind: "unknownKey",
    says: 'servcies: unknown key "servcies"; did you mean "services"?',
  },
  {
    from: "deployment:\n",
    to: "networks: {}\nvolumes: {}\ndeployment:\n",
    at: "55:1",
    kind: "unknownKey",
    says: 'volumes: unknown key "volumes"; name volumes under profiles.compute.<profile>.resources.storage and mount them with params.storage',
  },
  {
    from: "    image: docker.io/library/nginx:1.27\n",
    to: "",
    at: "3:3",
    kind: "missing",
    says: 'services.web: "image" is missing; write image: and its name, for example docker.io/library/nginx:1.27',
  },
  {
    from: "    image: docker.io/library/nginx:1.27\n",
    to: "    image:\n",
    at: "4:5",
    kind: "missing",
    says: 'services.web.image: "image" is empty; write image: and its name, for example docker.io/library/nginx:1.27',
  },
  {
    from: "docker.io/library/nginx:1.27",
    to: "Nginx",
    at: "4:12",
    kind: "value",
    says: 'services.web.image: "Nginx" is not the name of an image; write the name in lower case',
  },
  {
    from: "docker.io/library/nginx:1.27",
    to: "https://docker.io/nginx",
    at: "4:12",
    kind: "value",
    says: 'services.web.image: "https://docker.io/nginx" is not the name of an image; leave out the part up to ://',
  },
  {
    from: "docker.io/library/nginx:1.27",
    to: '"-v /:/host"',
    at: "4:12",
    kind: "value",
    says: 'services.web.image: "-v /:/host" is not the name of an image; write [registry/]name[:version], for example docker.io/library/nginx:1.27',
  },
  {
    from: "docker.io/library/nginx:1.27",
    to: "user:secret@registry.example.com/app",
    at: "4:12",
    kind: "value",
    says: 'services.web.image: "user:...@registry.example.com/app" is not the name of an image; put user name and password under credentials:',
  },
  {
    from: "docker.io/library/nginx:1.27",
    to: "nginx@sha256:1234",
    at: "4:12",
    kind: "value",
    says: 'services.web.image: "nginx@sha256:1234" is not the name of an image; write the digest as @sha256: and 64 hexadecimal digits',
  },
  {
    from: "docker.io/library/nginx:1.27",
    to: "[nginx]",
    at: "4:5",
    kind: "type",
    says: "services.web.image: a list is not the name of an image; write for example docker.io/library/nginx:1.27",
  },
  {
    from: "  web:\n    image",
    to: "  Web:\n    image",
    at: "3:3",
    kind: "value",
    says: 'services.Web: "Web" is not a name for a service; write lower-case letters, digits and dashes, beginning with a letter, at most 63',
  },
  {
    from: "  web:\n    image",
    to: "  ../web:\n    image",
    at: "3:3",
    kind: "value",
    says: 'services."../web": "../web" is not a name for a service; write lower-case letters, digits and dashes, beginning with a letter, at most 63',
  },
  {
    from: "    env:\n      - MODE=production",
    to: "    environment:\n      MODE: production",
    at: "5:5",
    kind: "unknownKey",
    says: 'services.web.environment: unknown key "environment"; write env: with a list of NAME=value',
  },
  {
    from: "    env:\n      - MODE=production",
    to: "    env:\n      MODE: production",
    at: "5:5",
    kind: "type",
    says: "services.web.env: a map is not a list of variables; write env: with a list of - NAME=value",
  },
  {
    from: "- MODE=production",
    to: "- MODE: production",
    at: "6:9",
    kind: "type",
    says: "services.web.env[0]: a map is not a variable; write - MODE=value",
  },
  {
    from: "- MODE=production",
    to: "- 1MODE=x",
    at: "6:9",
    kind: "value",
    says: 'services.web.env[0]: "1MODE" is not the name of a variable; write NAME=value, the name with letters, digits, _, - and . and no digit first',
  },
  {
    from: "- MODE=production",
    to: '- "A=\\0"',
    at: "6:9",
    kind: "value",
    says: 'services.web.env[0]: the value of "A" holds a NUL byte; remove it',
  },
  {
    from: "    env:\n",
    to: "    command: npm start\n    env:\n",
    at: "5:14",
    kind: "value",
    says: 'services.web.command: "npm start" is not a list of words; write command: ["npm", "start"]',
  },
  {
    from: "    env:\n",
    to: '    command: ["sh", {a: b}]\n    env:\n',
    at: "5:21",
    kind: "type",
    says: 'services.web.command[1]: a map is not text; write one text per item, with quotes where it holds ": " or is empty',
  },
  {
    from: "    env:\n",
    to: '    ports: ["80:80"]\n    env:\n',
    at: "5:5",
    kind: "unknownKey",
    says: 'services.web.ports: unknown key "ports"; write expose: [{port: 8080, as: 80, to: [{global: true}]}]',
  },
  {
    from: "    env:\n",
    to: "    depends_on: [db]\n    entrypoint: x\n    env:\n",
    at: "6:5",
    kind: "unknownKey",
    says: 'services.web.entrypoint: unknown key "entrypoint"; write command: for the program and args: for its arguments',
  },
  {
    from: "    env:\n",
    to: "    credentials: {host: r.example.com, username: u, password: abc}\n    env:\n",
    at: "5:63",
    kind: "value",
    says: "services.web.credentials.password: the password is too short; write text of at least 6 characters",
  },
  {
    from: "    env:\n",
    to: "    credentials: {host: r.example.com, password: secret1}\n    env:\n",
    at: "5:5",
    kind: "missing",
    says: 'services.web.credentials: "username" is missing; write username: and the username of the registry account',
  },
  {
    from: "mount: /data",
    to: "mount: data",
    at: "10:18",
    kind: "value",
    says: 'services.web.params.storage.data.mount: "data" is not a place for a volume; write an absolute path, for example /data',
  },
  {
    from: "mount: /data",
    to: "mount: /proc/x",
    at: "10:18",
    kind: "value",
    says: 'services.web.params.storage.data.mount: "/proc/x" is not a place for a volume; /proc belongs to the system: mount elsewhere',
  },
  {
    from: "mount: /data",
    to: "mount: /etc/../x",
    at: "10:18",
    kind: "value",
    says: 'services.web.params.storage.data.mount: "/etc/../x" is not a place for a volume; write the path without //, . and ..',
  },
  {
    from: "mount: /data",
    to: "mount: /",
    at: "10:18",
    kind: "value",
    says: 'services.web.params.storage.data.mount: "/" is not a place for a volume; write a directory below /, for example /data',
  },
  {
    from: "mount: /data",
    to: "mount: /data\n          readonly: true",
    at: "11:11",
    kind: "unknownKey",
    says: 'services.web.params.storage.data.readonly: unknown key "readonly"; did you mean "readOnly"?',
  },
  {
    from: "        data:\n          mount",
    to: "        date:\n          mount",
    at: "10:18",
    kind: "reference",
    says: 'services.web.params.storage.date.mount: profile "large" has no volume named "date"; did you mean "data"?',
  },
  {
    from: "        data:\n          mount",
    to: "        default: {mount: /data}\n        data:\n          mount",
    at: "9:26",
    kind: "conflict",
    says: 'services.web.params.storage.default.mount: "/data" is also the place of volume "data"; mount each volume at its own path',
  },
  {
    from: "port: 8080",
    to: "port: 0",
    at: "12:15",
    kind: "range",
    says: "services.web.expose[0].port: 0 is not a port; write a number from 1 to 65535",
  },
  {
    from: "port: 8080",
    to: "port: 65536",
    at: "12:15",
    kind: "range",
    says: "services.web.expose[0].port: 65536 is not a port; write a number from 1 to 65535",
  },
  {
    from: "port: 8080",
    to: 'port: "8080"',
    at: "12:15",
    kind: "value",
    says: 'services.web.expose[0].port: "8080" is text in quotes, not a port; write 8080 without quotes',
  },
  {
    from: "port: 8080",
    to: "port: 80:8080",
    at: "12:15",
    kind: "value",
    says: 'services.web.expose[0].port: "80:8080" is not a port; write port: 8080 and as: 80',
  },
  {
    from: "port: 8080",
    to: "port: 8000-8010",
    at: "12:15",
    kind: "value",
    says: 'services.web.expose[0].port: "8000-8010" is not a port; write one entry for each port',
  },
  {
    from: "port: 8080",
    to: "port: 53/udp",
    at: "12:15",
    kind: "value",
    says: 'services.web.expose[0].port: "53/udp" is not a port; write port: 53 and proto: udp',
  },
  {
    from: "port: 8080",
    to: "port: 08080",
    at: "12:15",
    kind: "value",
    says: 'services.web.expose[0].port: "08080" is not a plain number; write 8080',
  },
  {
    from: "port: 8080",
    to: "port: 0x50",
    at: "12:15",
    kind: "value",
    says: 'services.web.expose[0].port: "0x50" is not a port; write a number from 1 to 65535',
  },
  {
    from: "      - port: 8080\n        as: 80",
    to: "      - as: 80",
    at: "12:9",
    kind: "missing",
    says: 'services.web.expose[0]: "port" is missing; write the port that the program listens on, for example port: 8080',
  },
  {
    from: "as: 80",
    to: "as: 80\n        proto: http",
    at: "14:16",
    kind: "value",
    says: 'services.web.expose[0].proto: "http" is not a protocol; write tcp: HTTP runs over it',
  },
  {
    from: "as: 80",
    to: "as: 80\n        protocol: tcp",
    at: "14:9",
    kind: "unknownKey",
    says: 'services.web.expose[0].protocol: unknown key "protocol"; did you mean "proto"?',
  },
  {
    from: "as: 80",
    to: "as: 80\n        proto: sctp",
    at: "14:16",
    kind: "value",
    says: 'services.web.expose[0].proto: "sctp" is not a protocol; write tcp or udp',
  },
  {
    from: "- shop.example.com",
    to: "- https://shop.example.com/",
    at: "15:13",
    kind: "value",
    says: 'services.web.expose[0].accept[0]: "https://shop.example.com/" is not a host name; write the name alone, without http:// and path',
  },
  {
    from: "- shop.example.com",
    to: "- Shop.example.com",
    at: "15:13",
    kind: "value",
    says: 'services.web.expose[0].accept[0]: "Shop.example.com" is not a host name; write shop.example.com',
  },
  {
    from: "- shop.example.com",
    to: "- shop.example.com.",
    at: "15:13",
    kind: "value",
    says: 'services.web.expose[0].accept[0]: "shop.example.com." is not a host name; write shop.example.com',
  },
  {
    from: "- shop.example.com",
    to: "- 10.0.0.1",
    at: "15:13",
    kind: "value",
    says: 'services.web.expose[0].accept[0]: "10.0.0.1" is not a host name; write a name, not an address',
  },
  {
    from: "- shop.example.com",
    to: "- localhost",
    at: "15:13",
    kind: "value",
    says: 'services.web.expose[0].accept[0]: "localhost" is no name of your own; write a name in a domain you own',
  },
  {
    from: "- shop.example.com",
    to: "- '*.example.com'",
    at: "15:13",
    kind: "value",
    says: 'services.web.expose[0].accept[0]: "*.example.com" is not a host name; write each name out: patterns are not supported',
  },
  {
    from: "- shop.example.com",
    to: "- shop.example.com:8080",
    at: "15:13",
    kind: "value",
    says: 'services.web.expose[0].accept[0]: "shop.example.com:8080" is not a host name; write the name alone, without the port',
  },
  {
    from: "- shop.example.com",
    to: "- *.example.com",
    at: "15:13",
    kind: "feature",
    says: 'aliases are not supported ("*.example.com"); repeat the value, or put the text in quotes if it begins with "*" itself',
  },
  {
    from: "- shop.example.com",
    to: "- shop.example.com\n          - shop.example.com",
    at: "16:13",
    kind: "conflict",
    says: 'services.web.expose[0].accept[1]: host name "shop.example.com" already belongs to service "web" in placement "anywhere"; give each service and placement its own names',
  },
  {
    from: "- global: true",
    to: "- global",
    at: "17:13",
    kind: "value",
    says: 'services.web.expose[0].to[0]: "global" is not a map of who may connect; write - global: true',
  },
  {
    from: "- global: true",
    to: '- global: "true"',
    at: "17:21",
    kind: "value",
    says: 'services.web.expose[0].to[0].global: "true" is text in quotes, not a switch; write true without quotes',
  },
  {
    from: "- global: true",
    to: "- global: maybe",
    at: "17:21",
    kind: "value",
    says: 'services.web.expose[0].to[0].global: "maybe" is not a switch; write true or false',
  },
  {
    from: "- global: true",
    to: "- golbal: true",
    at: "17:13",
    kind: "unknownKey",
    says: 'services.web.expose[0].to[0].golbal: unknown key "golbal"; did you mean "global"?',
  },
  {
    from: "- global: true",
    to: "- global: true\n            ip: public",
    at: "17:13",
    kind: "reference",
    says: 'services.web.expose[0].to[0]: there is no endpoint named "public"; declare it',
  },
  {
    from: "- global: true",
    to: "- service: db\n            ip: public",
    at: "17:13",
    kind: "reference",
    says: 'services.web.expose[0].to[0]: there is no endpoint named "public"; declare it',
  },
  {
    from: "- global: true",
    to: "- service: db",
    at: "3:3",
    kind: "missing",
    says: "services.web: no service can be reached from outside; write to: [{global: true}] for at least one exposed port",
  },
  {
    from: "- service: web",
    to: "- service: wbe",
    at: "23:13",
    kind: "reference",
    says: 'services.db.expose[0].to[0]: there is no service named "wbe"; did you mean "web"?',
  },
  {
    from: "      - port: 5432",
    to: "      - port: 5432\n        as: 99\n        to: [{service: web}]\n      - port: 99",
    at: "24:9",
    kind: "conflict",
    says: 'services.db.expose[1]: port 99/TCP already leads to port 5432 of service "db"; write another port with as:',
  },
  {
    from: "as: 80",
    to: "as: 80\n        http_options: {max_body_size: 104857601}",
    at: "14:39",
    kind: "range",
    says: "services.web.expose[0].http_options.max_body_size: 104857601 is not a number of bytes; write a number from 0 to 104857600",
  },
  {
    from: "as: 80",
    to: "as: 80\n        http_options: {read_timeout: 1m}",
    at: "14:38",
    kind: "value",
    says: 'services.web.expose[0].http_options.read_timeout: "1m" is not a number of milliseconds; write a number from 0 to 60000',
  },
  {
    from: "as: 80",
    to: "as: 80\n        http_options: {next_cases: [off, error]}",
    at: "14:24",
    kind: "value",
    says: 'services.web.expose[0].http_options.next_cases: "off" stands beside other cases; write next_cases: [off], or leave off out',
  },
  {
    from: "as: 80",
    to: 'as: 80\n        http_options: {next_cases: ["501"]}',
    at: "14:37",
    kind: "value",
    says: 'services.web.expose[0].http_options.next_cases[0]: "501" is not a case; write one of error, timeout, 500, 502, 503, 504, 403, 404, 429, off',
  },
  {
    from: "units: 0.5",
    to: "units: 500M",
    at: "29:18",
    kind: "value",
    says: 'profiles.compute.large.resources.cpu.units: "500M" is not a number of cores; write 500m',
  },
  {
    from: "units: 0.5",
    to: "units: -1",
    at: "29:18",
    kind: "value",
    says: 'profiles.compute.large.resources.cpu.units: "-1" is not a number of cores; write cores such as 0.5 or 2, or thousandths such as "500m"',
  },
  {
    from: "units: 0.5",
    to: "units: 0.001",
    at: "29:18",
    kind: "range",
    says: 'profiles.compute.large.resources.cpu.units: "0.001" is out of range; write 0.01 to 384',
  },
  {
    from: "units: 0.5",
    to: "units: 2 cores",
    at: "29:18",
    kind: "value",
    says: 'profiles.compute.large.resources.cpu.units: "2 cores" is not a number of cores; write 2',
  },
  {
    from: "units: 0.5",
    to: "units: 1e3",
    at: "29:18",
    kind: "value",
    says: 'profiles.compute.large.resources.cpu.units: "1e3" is not a number of cores; write cores such as 0.5 or 2, or thousandths such as "500m"',
  },
  {
    from: "units: 0.5",
    to: "units: .inf",
    at: "29:18",
    kind: "value",
    says: 'profiles.compute.large.resources.cpu.units: ".inf" is not a number of cores; write cores such as 0.5 or 2, or thousandths such as "500m"',
  },
  {
    from: "units: 0.5",
    to: "units: [0.5]",
    at: "29:11",
    kind: "type",
    says: 'profiles.compute.large.resources.cpu.units: a list is not a number of cores; write cores such as 0.5 or 2, or thousandths such as "500m"',
  },
  {
    from: "units: 0.5",
    to: "units: 0.5\n          attributes: {arch: x86}",
    at: "30:30",
    kind: "value",
    says: 'profiles.compute.large.resources.cpu.attributes.arch: "x86" is not a processor architecture; write one of amd64, arm64',
  },
  {
    from: "size: 512Mi",
    to: "size: 512mi",
    at: "31:17",
    kind: "value",
    says: 'profiles.compute.large.resources.memory.size: "512mi" is not a size; write 512Mi',
  },
  {
    from: "size: 512Mi",
    to: "size: 1gb",
    at: "31:17",
    kind: "value",
    says: 'profiles.compute.large.resources.memory.size: "1gb" is not a size; write 1G',
  },
  {
    from: "size: 512Mi",
    to: "size: 1Gb",
    at: "31:17",
    kind: "value",
    says: 'profiles.compute.large.resources.memory.size: "1Gb" is not a size; write 1G',
  },
  {
    from: "size: 512Mi",
    to: "size: 1GiB",
    at: "31:17",
    kind: "value",
    says: 'profiles.compute.large.resources.memory.size: "1GiB" is not a size; write 1Gi',
  },
  {
    from: "size: 512Mi",
    to: "size: 1KB",
    at: "31:17",
    kind: "value",
    says: 'profiles.compute.large.resources.memory.size: "1KB" is not a size; write 1k',
  },
  {
    from: "size: 512Mi",
    to: "size: 512m",
    at: "31:17",
    kind: "value",
    says: 'profiles.compute.large.resources.memory.size: "512m" is not a size; write 512Mi (or 512M)',
  },
  {
    from: "size: 512Mi",
    to: "size: 128 Mi",
    at: "31:17",
    kind: "value",
    says: 'profiles.compute.large.resources.memory.size: "128 Mi" is not a size; write 128Mi',
  },
  {
    from: "size: 512Mi",
    to: "size: -1Gi",
    at: "31:17",
    kind: "value",
    says: 'profiles.compute.large.resources.memory.size: "-1Gi" is not a size; write a size above zero, for example 512Mi',
  },
  {
    from: "size: 512Mi",
    to: "size: lots",
    at: "31:17",
    kind: "value",
    says: 'profiles.compute.large.resources.memory.size: "lots" is not a size; write a number with k, M, G, T, P, E (powers of 1000) or Ki, Mi, Gi, Ti, Pi, Ei (powers of 1024)',
  },
  {
    from: "size: 512Mi",
    to: "size: 512k",
    at: "31:17",
    kind: "range",
    says: 'profiles.compute.large.resources.memory.size: "512k" is out of range; write 1Mi to 2Ti',
  },
  {
    from: "size: 512Mi",
    to: "size: 3Ti",
    at: "31:17",
    kind: "range",
    says: 'profiles.compute.large.resources.memory.size: "3Ti" is out of range; write 1Mi to 2Ti',
  },
  {
    from: "        memory:\n          size: 512Mi\n",
    to: "",
    at: "27:7",
    kind: "missing",
    says: 'profiles.compute.large.resources: "memory" is missing; write memory: {size: 512Mi}',
  },
  {
    from: "          - size: 1Gi\n",
    to: "          - size: 1Gi\n          - size: 2Gi\n",
    at: "34:13",
    kind: "conflict",
    says: 'profiles.compute.large.resources.storage[1]: there are two volumes named "default"; give each volume a name: of its own',
  },
  {
    from: "          - size: 1Gi\n",
    to: "          - siez: 1Gi\n",
    at: "33:13",
    kind: "unknownKey",
    says: 'profiles.compute.large.resources.storage[0].siez: unknown key "siez"; did you mean "size"?',
  },
  {
    from: "              class: beta2",
    to: "              class: beta9",
    at: "38:22",
    kind: "value",
    says: 'profiles.compute.large.resources.storage[1].attributes.class: "beta9" is not a storage class; write one of default, beta1, beta2, beta3, ram',
  },
  {
    from: "              class: beta2",
    to: "              class: ram",
    at: "38:22",
    kind: "value",
    says: 'profiles.compute.large.resources.storage[1].attributes.class: storage of class "ram" is lost at every restart, but persistent is true; write persistent: false',
  },
  {
    from: "persistent: true",
    to: "persistent: maybe",
    at: "37:27",
    kind: "value",
    says: 'profiles.compute.large.resources.storage[1].attributes.persistent: "maybe" is not a switch; write true or false',
  },
  {
    from: "persistent: true",
    to: "persistent: false",
    at: "38:22",
    kind: "value",
    says: 'profiles.compute.large.resources.storage[1].attributes.class: class "beta2" is for persistent storage; write persistent: true beside it, or remove class:',
  },
  {
    from: "name: data\n            size",
    to: "name: a/b\n            size",
    at: "10:18",
    kind: "reference",
    says: 'services.web.params.storage.data.mount: profile "large" has no volume named "data"; add it to the storage of the profile, or use "default", "a/b"',
  },
  {
    from: "storage: {size: 64Mi}",
    to: "storage: []",
    at: "43:9",
    kind: "missing",
    says: "profiles.compute.small.resources.storage: the list of volumes is empty; write storage: {size: 1Gi}",
  },
  {
    from: "storage: {size: 64Mi}",
    to: "storage: 64Mi",
    at: "43:18",
    kind: "value",
    says: 'profiles.compute.small.resources.storage: "64Mi" is not a volume or a list of volumes; write storage: {size: 1Gi}',
  },
  {
    from: "storage: {size: 64Mi}",
    to: "storage: {size: 64Mi}\n        gpu: {units: 1}",
    at: "44:9",
    kind: "missing",
    says: "profiles.compute.small.resources.gpu: the attributes of the GPU are missing; write attributes: {vendor: {nvidia: }} for any model",
  },
  {
    from: "storage: {size: 64Mi}",
    to: "storage: {size: 64Mi}\n        gpu: {units: 0, attributes: {vendor: {nvidia: }}}",
    at: "44:25",
    kind: "value",
    says: "profiles.compute.small.resources.gpu.attributes: attributes are given for 0 GPUs; write units: 1, or remove the attributes",
  },
  {
    from: "storage: {size: 64Mi}",
    to: "storage: {size: 64Mi}\n        gpu: {units: 1, attributes: {vendor: {amd: }}}",
    at: "44:47",
    kind: "unknownKey",
    says: 'profiles.compute.small.resources.gpu.attributes.vendor.amd: unknown key "amd"; GPUs of nvidia alone can be asked for: write nvidia:',
  },
  {
    from: "storage: {size: 64Mi}",
    to: "storage: {size: 64Mi}\n        gpu: {units: 1, attributes: {vendor: {nvidia: [{model: a100, ram: 80GB}]}}}",
    at: "44:75",
    kind: "value",
    says: 'profiles.compute.small.resources.gpu.attributes.vendor.nvidia[0].ram: "80GB" is not the memory of a GPU; write whole gibibytes, for example 80Gi',
  },
  {
    from: "storage: {size: 64Mi}",
    to: "storage: {size: 64Mi}\n        gpu: {units: 1.5, attributes: {vendor: {nvidia: }}}",
    at: "44:22",
    kind: "value",
    says: 'profiles.compute.small.resources.gpu.units: "1.5" is not a number of GPUs; write a whole number from 0 to 24',
  },
  {
    from: "storage: {size: 64Mi}",
    to: "storage: {size: 64Mi}\n        gpu: {units: 1, attributes: {vendor: {nvidia: [{model: a100, interface: nvlink}]}}}",
    at: "44:81",
    kind: "value",
    says: 'profiles.compute.small.resources.gpu.attributes.vendor.nvidia[0].interface: "nvlink" is not an interface of a GPU; write one of pcie, sxm',
  },
  {
    from: "region: eu-west",
    to: "9region: eu",
    at: "47:9",
    kind: "value",
    says: 'profiles.placement.anywhere.attributes.9region: "9region" is not a name for an attribute; write letters, digits and _ - . /, beginning with a letter, for example region',
  },
  {
    from: "region: eu-west",
    to: "region: [a]",
    at: "47:9",
    kind: "type",
    says: "profiles.placement.anywhere.attributes.region: a list is not text; write one word or a text in quotes",
  },
  {
    from: "region: eu-west",
    to: "region:",
    at: "47:9",
    kind: "type",
    says: "profiles.placement.anywhere.attributes.region: an empty value is not text; write one word or a text in quotes",
  },
  {
    from: "          - svc1auditor",
    to: '          - "an auditor"',
    at: "50:13",
    kind: "value",
    says: 'profiles.placement.anywhere.signedBy.anyOf[0]: "an auditor" is not an address; write the address of an auditor',
  },
  {
    from: "        anyOf:\n          - svc1auditor",
    to: "        anyof:\n          - svc1auditor",
    at: "49:9",
    kind: "unknownKey",
    says: 'profiles.placement.anywhere.signedBy.anyof: unknown key "anyof"; did you mean "anyOf"?',
  },
  {
    from: "amount: 100}",
    to: "amount: 0}",
    at: "52:40",
    kind: "value",
    says: 'profiles.placement.anywhere.pricing.large.amount: "0" is not a price; write a price above zero',
  },
  {
    from: "amount: 100}",
    to: "amount: -5}",
    at: "52:40",
    kind: "value",
    says: 'profiles.placement.anywhere.pricing.large.amount: "-5" is not a price; write a price above zero',
  },
  {
    from: "amount: 100}",
    to: "amount: 1e3}",
    at: "52:40",
    kind: "value",
    says: 'profiles.placement.anywhere.pricing.large.amount: "1e3" is not a price; write 1000',
  },
  {
    from: "amount: 100}",
    to: "amount: 100utoken}",
    at: "52:40",
    kind: "value",
    says: 'profiles.placement.anywhere.pricing.large.amount: "100utoken" is not a price; write amount: 100 and denom: utoken',
  },
  {
    from: "amount: 100}",
    to: "amount: 0.1234567890123456789}",
    at: "52:40",
    kind: "value",
    says: 'profiles.placement.anywhere.pricing.large.amount: "0.1234567890123456789" is not a price; write digits with at most 18 decimals, for example 12.5',
  },
  {
    from: "amount: 100}",
    to: "amount: 10000001}",
    at: "52:40",
    kind: "value",
    says: 'profiles.placement.anywhere.pricing.large.amount: "10000001" is above the highest price; write at most 10000000',
  },
  {
    from: "{denom: utoken, amount: 100}",
    to: "{denom: u, amount: 100}",
    at: "52:24",
    kind: "value",
    says: 'profiles.placement.anywhere.pricing.large.denom: "u" is not a denomination; write the name of a coin, for example utoken',
  },
  {
    from: "{denom: utoken, amount: 100}",
    to: "{denom: uother, amount: 100}",
    at: "52:9",
    kind: "value",
    says: 'profiles.placement.anywhere.pricing.large: the price is in "uother", another one of this file in "utoken"; write one denomination in all prices',
  },
  {
    from: "{denom: utoken, amount: 100}",
    to: "100utoken",
    at: "52:16",
    kind: "value",
    says: 'profiles.placement.anywhere.pricing.large: "100utoken" is not a price; write {denom: utoken, amount: 100}',
  },
  {
    from: "        large: {denom: utoken, amount: 100}\n",
    to: "",
    at: "56:16",
    kind: "reference",
    says: 'deployment.web.anywhere.profile: placement "anywhere" has no price for profile "large"; write pricing: {large: {denom: utoken, amount: 100}} in the placement',
  },
  {
    from: "count: 2",
    to: "count: 0",
    at: "58:14",
    kind: "range",
    says: "deployment.web.anywhere.count: 0 is not a number of replicas; write a whole number from 1 to 50",
  },
  {
    from: "count: 2",
    to: "count: 51",
    at: "58:14",
    kind: "range",
    says: "deployment.web.anywhere.count: 51 is not a number of replicas; write a whole number from 1 to 50",
  },
  {
    from: "count: 2",
    to: "count: 1.5",
    at: "58:14",
    kind: "value",
    says: 'deployment.web.anywhere.count: "1.5" is not a number of replicas; write a whole number from 1 to 50',
  },
  {
    from: "      count: 2\n",
    to: "",
    at: "56:5",
    kind: "missing",
    says: 'deployment.web.anywhere: "count" is missing; write count: 1',
  },
  {
    from: "profile: large",
    to: "profile: lage",
    at: "57:16",
    kind: "reference",
    says: 'deployment.web.anywhere.profile: there is no compute profile named "lage"; did you mean "large"?',
  },
  {
    from: "    anywhere:\n      profile",
    to: "    anywere:\n      profile",
    at: "56:5",
    kind: "reference",
    says: 'deployment.web.anywere: there is no placement named "anywere"; did you mean "anywhere"?',
  },
  {
    from: "  web:\n    anywhere:",
    to: "  wbe:\n    anywhere:",
    at: "55:3",
    kind: "reference",
    says: 'deployment.wbe: there is no service named "wbe"; did you mean "web"?',
  },
  {
    from: "  db:\n    anywhere: {profile: small, count: 1}",
    to: "  db:",
    at: "59:3",
    kind: "type",
    says: "deployment.db: an empty value is not a map of placements; write PLACEMENT: {profile: PROFILE, count: 1} below the service",
  },
  {
    from: "deployment:\n",
    to: "endpoints: {public: {kind: ip}}\ndeployment:\n",
    at: "54:13",
    kind: "reference",
    says: 'endpoints.public: endpoint "public" is never used; write ip: public beside global: true, or remove the endpoint',
  },
  {
    from: "deployment:\n",
    to: "endpoints: {P: {kind: port}}\ndeployment:\n",
    at: "54:13",
    kind: "value",
    says: 'endpoints.P: "P" is not a name for an endpoint; write lower-case letters, digits, - and _, beginning with a letter, at least 2',
  },
  {
    from: "deployment:\n",
    to: "reclamation: {min_window: 1d}\ndeployment:\n",
    at: "54:27",
    kind: "value",
    says: 'reclamation.min_window: "1d" is not a time span; write a whole number above zero and s, m or h, for example 24h',
  },
  {
    from: "env:\n      - MODE=production",
    to: "env: &env\n      - MODE=production",
    at: "5:10",
    kind: "feature",
    says: 'anchors are not supported ("&env"); repeat the value, or put the text in quotes if it begins with "&" itself',
  },
  {
    from: "    env:\n",
    to: "    <<: {image: x}\n    env:\n",
    at: "5:5",
    kind: "feature",
    says: "services.web: merge keys are not supported; write the entries out",
  },
  {
    from: "image: docker.io/library/nginx:1.27",
    to: "image: !!str docker.io/library/nginx:1.27",
    at: "4:12",
    kind: "feature",
    says: 'tags are not supported ("!!str"); remove it, or put the text in quotes if it begins with "!" itself',
  },
  {
    from: "services:\n  web:",
    to: "services:\n---\n  web:",
    at: "3:1",
    kind: "feature",
    says: "a second document begins here; write one deployment per file",
  },
  {
    from: "    env:\n",
    to: "    image: other\n    env:\n",
    at: "5:5",
    kind: "duplicateKey",
    says: 'services.web.image: the key "image" is here twice (first in line 4); keep one of them',
  },
  {
    from: "    env:\n",
    to: "\tenv:\n",
    at: "5:1",
    kind: "syntax",
    says: "Tabs are not allowed as indentation; indent with spaces",
  },
  {
    from: "    env:\n",
    to: "   env:\n",
    at: "5:1",
    kind: "syntax",
    says: "All mapping items must start at the same column; line it up with the entries that belong to the same list or map",
  },
  {
    from: "as: 80",
    to: "as: 80: 90",
    at: "13:13",
    kind: "syntax",
    says: 'Nested mappings are not allowed in compact mappings; put the text in quotes if ": " is part of it, else begin a new line',
  },
  {
    from: "- MODE=production",
    to: '- "MODE=production',
    at: "6:25",
    kind: "syntax",
    says: 'Missing closing "quote; close the quote or bracket, or add the missing colon or space',
  },
  {
    from: "- MODE=production",
    to: "- @MODE",
    at: "6:9",
    kind: "syntax",
    says: "Plain value cannot start with reserved character @; put the text in quotes",
  },
  {
    from: "- MODE=production",
    to: '- "a\\qb"',
    at: "6:11",
    kind: "syntax",
    says: "Invalid escape sequence \\q; use single quotes, or double the backslash",
  },
  {
    from: "- MODE=production",
    to: "- MODE=\u0007",
    at: "6:14",
    kind: "syntax",
    says: "the character U+0007 is not allowed in a text file; remove it and save the file as UTF-8",
  },
  {
    from: "units: 0.5",
    to: "units: 0.5\n          ? [a]\n          : b",
    at: "30:13",
    kind: "syntax",
    says: 'profiles.compute.large.resources.cpu: a list or map is used as a key; write "key: value"',
  },
  {
    from: "profiles:\n  compute:",
    to: "profiles:\n  computes:",
    at: "25:3",
    kind: "unknownKey",
    says: 'profiles.computes: unknown key "computes"; did you mean "compute"?',
  },
  {
    from: 'version: "2.0"\n',
    to: '%YAML 1.1\n---\nversion: "2.0"\n',
    at: "1:1",
    kind: "feature",
    says: 'directives are not supported ("%YAML 1.1"); remove the line',
  },
];

function load(text: string): readonly SdlIssue[] {
  try {
    loadSdl(text, { file: "sample.yaml" });
    return [];
  } catch (error) {
    if (!(error instanceof SdlError)) throw error;
    return error.issues;
  }
}

describe("a broken deployment file", () => {
  it("starts from a sample without faults or warnings", () => {
    expect(loadSdl(SAMPLE).warnings).toEqual([]);
  });

  it.each(ROWS)("$at $to", ({ from, to, at, kind, says }) => {
    expect(SAMPLE.split(from).length).toBeGreaterThan(1);
    const [issue] = load(SAMPLE.replace(from, () => to));
    expect(issue).toBeDefined();
    if (issue === undefined) return;
    const path = issue.path === "" ? "" : `${issue.path}: `;
    expect(`${issue.line}:${issue.column}`).toBe(at);
    expect(`${path}${issue.problem}; ${issue.remedy}`).toBe(says);
    expect(issue).toMatchObject({ kind, file: "sample.yaml" });
    expect(SDL_CODES[kind]).toBeGreaterThan(0);
  });

  it("is refused with all its faults, in the order of the file", () => {
    const text = SAMPLE.replace("port: 8080", "port: 0").replace("0.5", "lots").replace("count: 2", "count: 99");
    expect(load(text).map(({ line, column }) => `${line}:${column}`)).toEqual(["12:15", "29:18", "58:14"]);
  });

  it("gives message, code and hint of the first fault", () => {
    const text = SAMPLE.replace("port: 8080", "port: 0").replace("count: 2", "count: 99");
    expect(() => loadSdl(text, { file: "sample.yaml" })).toThrowError(
      expect.objectContaining({
        codespace: "sdl",
        code: SDL_CODES.range,
        message: "sample.yaml:12:15: services.web.expose[0].port: 0 is not a port (and 1 more)",
        hint: "write a number from 1 to 65535",
      }),
    );
  });

  it("never repeats a secret", () => {
    const credentials =
      "    credentials: {host: r.example.com, username: [], password: pw987, email: {a: b}}\n    env:\n";
    const image = SAMPLE.replace("docker.io/library/nginx:1.27", "me:hunter22@registry.example.com/app");
    const texts = [...load(SAMPLE.replace("    env:\n", () => credentials)), ...load(image)].map(
      (issue) => issue.problem,
    );
    expect(texts).toHaveLength(4);
    expect(texts.join()).not.toMatch(/pw987|hunter22/);
  });

  it("is shown without characters that act on a terminal", () => {
    const [issue] = load(SAMPLE.replace("region: eu-west", '"a\\e[31m\\u202Eb": c'));
    expect(issue?.problem).toBe('"a\\u001b[31m\\u{202e}b" is not a name for an attribute');
  });
});
