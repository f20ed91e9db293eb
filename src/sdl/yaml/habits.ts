/** Keys of other tools' files that people write out of habit. */
export interface Habit {
  /** The file means the same without the key. */
  readonly harmless: boolean;
  readonly remedy: string;
  /** The key that stands for it here. */
  readonly replaces?: string;
}

export type Habits = ReadonlyMap<string, Habit>;

function harmless(remedy: string): Habit {
  return { harmless: true, remedy };
}

function wrong(remedy: string, replaces?: string): Habit {
  return { harmless: false, remedy, ...(replaces === undefined ? {} : { replaces }) };
}

const START_ORDER = harmless("remove it: services start together, so let the program retry its connections");
const IMAGE_SETTING = wrong("not supported: set it in the image");
const OWN_NETWORK = harmless("remove it: the services of a deployment share a network and find each other by name");
const NO_EFFECT = harmless("remove it: it has no effect here");

/** Keys of compose files under a service. */
export const SERVICE_HABITS: Habits = new Map<string, Habit>([
  ["depends_on", START_ORDER],
  ["depends-on", START_ORDER],
  ["restart", harmless("remove it: services are always restarted")],
  ["container_name", harmless("remove it: the name of the service is its name on the network")],
  ["hostname", harmless("remove it: the name of the service is its name on the network")],
  ["networks", OWN_NETWORK],
  ["links", OWN_NETWORK],
  ["labels", NO_EFFECT],
  ["logging", NO_EFFECT],
  ["init", NO_EFFECT],
  ["stdin_open", NO_EFFECT],
  ["tty", NO_EFFECT],
  ["platform", NO_EFFECT],
  ["pull_policy", NO_EFFECT],
  ["stop_grace_period", NO_EFFECT],
  ["stop_signal", NO_EFFECT],
  ["healthcheck", harmless("remove it: the health check of the image is used")],
  ["ports", wrong("write expose: [{port: 8080, as: 80, to: [{global: true}]}]", "expose")],
  ["environment", wrong("write env: with a list of NAME=value", "env")],
  ["env_file", wrong("write the variables as env: with a list of NAME=value", "env")],
  [
    "volumes",
    wrong(
      "name the volume under profiles.compute.<profile>.resources.storage and mount it with params.storage",
      "params",
    ),
  ],
  ["entrypoint", wrong("write command: for the program and args: for its arguments", "command")],
  ["cmd", wrong("write args: for arguments of the image's program, or command: for another program", "args")],
  ["build", wrong("build and push the image first, then name it with image:", "image")],
  ["deploy", wrong("write count: under deployment and sizes under profiles.compute")],
  ["replicas", wrong("write count: under deployment")],
  ["count", wrong("write count: under deployment")],
  ["resources", wrong("write them under profiles.compute")],
  ["user", IMAGE_SETTING],
  ["working_dir", IMAGE_SETTING],
  ["privileged", wrong("not supported: containers run without extra rights")],
  ["cap_add", wrong("not supported: containers run without extra rights")],
  ["network_mode", wrong("not supported: expose the ports that are needed")],
  ["devices", wrong("ask for a GPU with profiles.compute.<profile>.resources.gpu")],
  ["secrets", wrong("pass secrets with env:")],
  ["configs", wrong("put the files into the image, or pass settings with env:")],
]);

/** Keys of compose files at the top. */
export const TOP_HABITS: Habits = new Map<string, Habit>([
  ["name", NO_EFFECT],
  ["networks", OWN_NETWORK],
  [
    "volumes",
    wrong("name volumes under profiles.compute.<profile>.resources.storage and mount them with params.storage"),
  ],
  ["secrets", wrong("pass secrets with env:")],
  ["configs", wrong("put the files into the image, or pass settings with env:")],
]);

export const EXPOSE_HABITS: Habits = new Map<string, Habit>([
  ["global", wrong("write to: [{global: true}]", "to")],
  ["service", wrong("write to: [{service: NAME}]", "to")],
  ["protocol", wrong('did you mean "proto"?', "proto")],
  ["host", wrong("write accept: with a list of host names", "accept")],
  ["hosts", wrong("write accept: with a list of host names", "accept")],
]);

export const TO_HABITS: Habits = new Map<string, Habit>([
  ["http_options", wrong("move it up beside port:")],
  ["accept", wrong("move it up beside port:")],
  ["port", wrong("move it up into the expose entry")],
]);
