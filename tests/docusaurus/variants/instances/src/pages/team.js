import React from 'react';
import Layout from '@theme/Layout';
import Heading from '@theme/Heading';
import CodeBlock from '@theme/CodeBlock';
import Tabs from '@theme/Tabs';
import TabItem from '@theme/TabItem';
import Link from '@docusaurus/Link';
import Translate, {translate} from '@docusaurus/Translate';

const people = [{name: 'Ada', age: 36}, {name: 'Bob & Eve', age: 41}];

export default function Team() {
  return (
    <Layout title={translate({id: 'team.title', message: 'The team'})} description="Who builds the robots">
      <header>
        <Heading as="h1"><Translate id="team.title">The team</Translate></Heading>
        <p>{people.length} people, <strong>one</strong> robot.</p>
      </header>
      <main>
        <Heading as="h2" id="how-we-work">How we work</Heading>
        <ul>{people.map(({name}) => <li key={name}>{name}<ol><li>first</li></ol></li>)}</ul>
        <table>
          <thead><tr><th>Name</th><th>Age</th></tr></thead>
          <tbody>{people.map(({name, age}) => <tr key={name}><td>{name}</td><td>{age}</td></tr>)}</tbody>
        </table>
        <CodeBlock language="js" title="robot.js">{'const a = 1;\nif (a < 2) {\n  run();\n}'}</CodeBlock>
        <Tabs><TabItem value="one">In the first tab.</TabItem><TabItem value="two">In the second tab.</TabItem></Tabs>
        <h3>Without an id</h3>
        <Link className="button" to="/join">Join</Link><Link className="button" to="https://example.org/">Elsewhere</Link>
        <div hidden>Hidden.</div>
        <svg><title>Drawn</title></svg>
        <style>{'.a {color: red}'}</style>
      </main>
      <p>Below.</p>
    </Layout>
  );
}
