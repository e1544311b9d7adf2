// The outline of the dashboard while its data loads.

const STATS = ['plants', 'tags', 'changes'];
const CARDS = ['chart', 'health', 'tags', 'activity'];
const LINES = ['b-2', 'b-4', 'b-3', 'b-5', 'b-1'];

export function DashboardBones() {
  return (
    <div class="wrap" aria-hidden="true">
      <div class="stats">
        {STATS.map((stat) => (
          <div key={stat} class="stat bones">
            <i class="bone b-2" />
            <i class="bone b-4" />
          </div>
        ))}
      </div>
      <div class="grid-2">
        {CARDS.map((card) => (
          <div key={card} class="card pad">
            {LINES.map((line) => (
              <i key={line} class={`bone ${line}`} />
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}
