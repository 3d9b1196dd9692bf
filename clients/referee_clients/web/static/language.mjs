// Another language of the same place: what the address has behind # is not sent, so the menu's links cannot know it.

const here = () => new URL(location.href);

const point = ({ currentTarget: link }) => {
  const there = here();
  there.searchParams.set("lang", link.lang);
  link.href = there;
};

// Another tab is opened without a click.
for (const link of document.querySelectorAll(".languages a")) {
  for (const event of ["pointerdown", "focus", "contextmenu", "click"]) link.addEventListener(event, point);
}

// It is kept, and an address that is passed on leaves the language to whoever opens it.
if (navigator.cookieEnabled && here().searchParams.has("lang")) {
  const plain = here();
  plain.searchParams.delete("lang");
  history.replaceState(history.state, "", plain);
}
