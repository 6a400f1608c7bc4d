// A page being generated: supplies words, and collects what its constructs need at its beginning and end.

const WORDS = `anchor anvil apron arrow axle badge barrel basin beam bearing bellows bench blade bolt boom bottle bracket branch brass brick bridge
bucket buckle cable canvas carbon cedar chain chisel clamp clay cliff clock cloth clutch coast cobalt coil copper cord cork cotton crane
crate creek crown curtain dial drawer drill drum engine feather fence ferry fiber field filter flame flask flint float foam forge frame
funnel garden gasket gauge gear glass globe glove grain granite gravel grease handle harbor hatch hinge honey hook horn hose ivory jacket
jar kettle kiln ladder lantern lather lemon lens lever linen lock loom magnet maple marble mast meadow mirror nail needle nickel oar
orchard oven paddle panel paper pebble pedal pepper piston pivot plank pliers plum pollen porch pulley pump quartz quill radar raft rail
ribbon ridge river rivet rope rudder saddle sail salt sand scale screw shaft shovel silk silver spindle spring spruce stable statue steel
stone stove string sulfur summer switch tank tar thread timber tin tongs tower tractor tunnel turbine valve velvet vessel wagon walnut
washer water wax wedge wheel willow winch window wire wool yarn zinc`.split(/\s+/);

/** Returns a function that returns numbers from 0 to below 1 (mulberry32). */
export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export class Page {
  constructor(random, format) {
    this.random = random;
    this.format = format;
    this.frontMatter = new Map();
    this.esm = new Set();
    this.definitions = [];
    this.title = '';
  }

  number(below = 100) {
    return Math.floor(this.random() * below);
  }

  pick(list) {
    return list[this.number(list.length)];
  }

  word() {
    return this.pick(WORDS);
  }

  words(count) {
    return Array.from({length: count}, () => this.word()).join(' ');
  }

  name() {
    const word = this.word();
    return word[0].toUpperCase() + word.slice(1);
  }

  letter() {
    return this.pick('abcxyz');
  }

  sentence() {
    return `${this.name()} ${this.words(2)}.`;
  }

  /** Defines a reference, and returns its label. */
  define(target) {
    const label = `${this.word()} ${this.definitions.length}`;
    this.definitions.push(`[${label}]: ${target}`);
    return label;
  }

  /** Defines a footnote, and returns its label. */
  footnote(text = this.words(2)) {
    const label = `n${this.definitions.length}`;
    this.definitions.push(`[^${label}]: ${text}`);
    return label;
  }

  component() {
    this.esm.add("export const Mark = ({children, color}) => <span style={{color}}>{children}</span>;");
    return 'Mark';
  }

  member() {
    this.esm.add("export const Kit = {Mark: (props) => <i>{props.children}</i>};");
    return 'Kit.Mark';
  }

  constant() {
    this.esm.add("export const release = '1.2.3';");
    return 'release';
  }

  /** Sets a field of the front matter, and returns its name. */
  field() {
    this.frontMatter.set('sidebar_label', this.words(2));
    return 'sidebar_label';
  }

  importOf(name, path) {
    this.esm.add(`import ${name} from '${path}';`);
    return name;
  }

  tabs(attributes = '') {
    this.importOf('TabItem', '@theme/TabItem');
    return `<${this.importOf('Tabs', '@theme/Tabs')}${attributes}>`;
  }

  /** Makes a heading the first block of the page. */
  titled(heading) {
    this.title = heading;
    return '';
  }

  /** Returns the file's text, with these blocks between the page's title and its definitions. */
  text(body) {
    const all = [...this.frontMatter].map(([key, value]) => `${key}: ${value}`);
    if (this.format === 'md') all.push('mdx: {format: md}');
    const frontMatter = all.length > 0 ? `---\n${all.join('\n')}\n---\n` : '';
    const parts = [[...this.esm].join('\n'), this.title, body, this.definitions.join('\n\n')];
    return `${frontMatter}${parts.filter(Boolean).join('\n\n')}\n`;
  }
}
