import Layout from '@theme/Layout';

export default function Fields() {
  return (
    <Layout title="Fields">
      <main className="container margin-vert--lg">
        <h1>Fields</h1>
        <input aria-label="Line" />
        <textarea aria-label="Text" />
        <div contentEditable suppressContentEditableWarning role="textbox" aria-label="Rich text" />
      </main>
    </Layout>
  );
}
