/** @module The icons of buttons without text. The buttons have labels for screen readers. */

const Icon = ({ path }: { readonly path: string }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden={true}>
    <path d={path} />
  </svg>
);

export const MenuIcon = () => <Icon path="M4 7h16M4 12h16M4 17h16" />;
export const SearchIcon = () => <Icon path="M10.5 17a6.5 6.5 0 1 1 0-13 6.5 6.5 0 0 1 0 13zM15.5 15.5 20 20" />;
export const CloseIcon = () => <Icon path="M6 6l12 12M18 6 6 18" />;
