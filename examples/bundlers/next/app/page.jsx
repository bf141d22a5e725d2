export default function Page() {
  return <p>Skills</p>;
}
