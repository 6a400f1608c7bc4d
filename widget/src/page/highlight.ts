// The syntax highlighter, loaded with the first code block: Prism's grammars, by the names that Docusaurus uses, without the rest of Prism.

import bash from 'refractor/bash';
import c from 'refractor/c';
import { refractor } from 'refractor/core';
import cpp from 'refractor/cpp';
import csharp from 'refractor/csharp';
import css from 'refractor/css';
import diff from 'refractor/diff';
import docker from 'refractor/docker';
import go from 'refractor/go';
import graphql from 'refractor/graphql';
import ini from 'refractor/ini';
import java from 'refractor/java';
import javascript from 'refractor/javascript';
import json from 'refractor/json';
import jsx from 'refractor/jsx';
import kotlin from 'refractor/kotlin';
import markdown from 'refractor/markdown';
import markup from 'refractor/markup';
import php from 'refractor/php';
import powershell from 'refractor/powershell';
import python from 'refractor/python';
import ruby from 'refractor/ruby';
import rust from 'refractor/rust';
import sql from 'refractor/sql';
import swift from 'refractor/swift';
import toml from 'refractor/toml';
import tsx from 'refractor/tsx';
import typescript from 'refractor/typescript';
import yaml from 'refractor/yaml';

const LANGUAGES = [
  bash, c, cpp, csharp, css, diff, docker, go, graphql, ini, java, javascript, json, jsx, kotlin, markdown, markup, php, powershell,
  python, ruby, rust, sql, swift, toml, tsx, typescript, yaml,
];
for (const language of LANGUAGES) refractor.register(language);

/** Names that authors use for languages, by the names that Prism knows. */
const ALIASES = { bash: ['console', 'shell-session', 'zsh'], json: ['json5', 'jsonc'], markdown: ['mdx'], diff: ['patch'] };
refractor.alias(ALIASES);

/** Longer code is shown without colours: some grammars take more than linear time, which would block typing. */
const MAX_CHARACTERS = 20_000;

/** A text, or a syntax element with its classes: `token keyword`. */
export type Piece = string | { classes: string; pieces: Piece[] };

type Nodes = ReturnType<typeof refractor.highlight>['children'];

/** Splits code into syntax elements; `undefined` if the language is unknown or the code is too long. */
export function highlight(code: string, language: string): Piece[] | undefined {
  if (code.length > MAX_CHARACTERS || !refractor.registered(language)) return undefined;
  return piecesOf(refractor.highlight(code, language).children);
}

function piecesOf(nodes: Nodes): Piece[] {
  return nodes.flatMap((node): Piece[] => {
    if (node.type === 'text') return [node.value];
    if (node.type !== 'element') return [];
    const { className } = node.properties;
    return [{ classes: Array.isArray(className) ? className.join(' ') : '', pieces: piecesOf(node.children) }];
  });
}
