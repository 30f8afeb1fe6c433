// Questions to the scheduler. Behind a Service each may come to another replica, and only the one that leads knows who
// waits and why.
const mostReplicas = 8; // asked before one that stands by may answer
const pause = 100; // milliseconds

// As fetch, of a path with its query. A replica that stands by answers only where none leads.
export async function ask(path, query, options) {
  for (let asked = 0; asked < mostReplicas; asked += 1) {
    const answer = await fetch(`${path}?${query}&leader=true`, { cache: 'no-store', ...options });
    if (answer.status !== 503 || !(await answer.clone().text()).startsWith('this replica stands by')) return answer;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  return fetch(`${path}?${query}`, { cache: 'no-store', ...options });
}
