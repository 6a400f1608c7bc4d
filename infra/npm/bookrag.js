#!/usr/bin/env node
// Runs bookrag. The first run downloads the release's archive for this machine, checks its SHA-256 against package.json, and keeps the
// program in the user's cache. Nothing is downloaded during installation.
'use strict';

const { spawn, spawnSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { release, version } = require('./package.json');

/** The program's path, after downloading it if it is missing. */
async function program() {
  const machine = `${process.platform}-${process.arch}`;
  const archive = release.archives[machine];
  if (!archive) {
    const known = Object.keys(release.archives).join(', ');
    throw new Error(`there is no bookrag for ${machine}, only for ${known}; build it from source`);
  }
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  const folder = path.join(cache, 'bookrag', 'npm', `${version}-${archive.sha256.slice(0, 16)}`);
  const found = path.join(folder, 'bookrag');
  if (fs.existsSync(found)) return found;
  const url = `${release.url}/${archive.file}`;
  console.error(`downloading ${url}`);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== archive.sha256) {
    throw new Error(`${url} has the SHA-256 ${sha256}, expected ${archive.sha256}; nothing was installed`);
  }
  // Unpacked beside its place and then renamed, so that a second run never sees half of it.
  fs.mkdirSync(path.dirname(folder), { recursive: true });
  const unpacked = fs.mkdtempSync(`${folder}.`);
  const tar = spawnSync('tar', ['-xzf', '-', '-C', unpacked, 'bookrag'], { input: bytes });
  if (tar.status !== 0) throw new Error(`tar cannot unpack ${url}: ${tar.stderr || tar.error}`);
  try {
    fs.renameSync(unpacked, folder);
  } catch (error) {
    if (!fs.existsSync(found)) throw error;
    fs.rmSync(unpacked, { recursive: true });
  }
  return found;
}

program().then(
  (found) => {
    const child = spawn(found, process.argv.slice(2), { stdio: 'inherit' });
    // Ctrl-C reaches the program as well, which decides when to end.
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => signal === 'SIGTERM' && child.kill(signal));
    child.on('error', (error) => fail(error));
    child.on('exit', (code, signal) => process.exit(signal ? 1 : code));
  },
  (error) => fail(error),
);

function fail(error) {
  console.error(`error: ${error.message}`);
  process.exit(1);
}
