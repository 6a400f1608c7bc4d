import Layout from '@theme/Layout';

export default function Home() {
  return (
    <Layout title="Home">
      <main className="container margin-vert--lg">
        <h1>Garden Robotics</h1>
        <article>
          <p>A page that is no part of the book: its words are the site&apos;s own, and may be selected.</p>
        </article>
      </main>
    </Layout>
  );
}
