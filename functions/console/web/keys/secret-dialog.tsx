import type { KeyWithSecret } from '../api/types.ts';
import { Dialog } from '../view/dialog.tsx';
import { Id } from '../view/parts.tsx';

interface SecretDialogProps {
  readonly title: string;
  readonly made: KeyWithSecret;
  readonly onClose: () => void;
}

/**
 * Shows a key's secret once. After a lost response a retry returns no secret, and the dialog advises to rotate the key.
 */
export const SecretDialog = ({ title, made: { name, secret }, onClose }: SecretDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    {secret === null ? (
      <p class="wrong" role="alert">
        The secret of {name} was in a response that was lost, and it cannot be shown again. Rotate the key to get
        another secret.
      </p>
    ) : (
      <>
        <p role="status">
          This is the secret of {name}. It is shown only now. Copy it into the settings of your program, and keep it out
          of your source code.
        </p>
        <Id>{secret}</Id>
      </>
    )}
    <div class="dialog-actions">
      <button type="button" class="primary" onClick={onClose}>
        Done
      </button>
    </div>
  </Dialog>
);
