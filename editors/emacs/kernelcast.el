;;; kernelcast.el --- What OpenCL kernels cost, beside the code  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT
;; Package-Requires: ((emacs "30.1"))
;; Keywords: languages, tools

;;; Commentary:

;; Put this file into a folder of your `load-path', and (require 'kernelcast) into your init file.  It needs nothing
;; but Emacs 30 and the command `kernelcast' (`kernelcast-program' says where, if not on the PATH).

;; Hints stand beside the kernels and eldoc has the rest (\\[eldoc-doc-buffer] for all of it).  In a kernel:
;; \\[kernelcast-measure], \\[kernelcast-measure-sizes], \\[kernelcast-cancel], \\[kernelcast-choose-device],
;; \\[kernelcast-report].

;;; Code:

(require 'cl-lib)
(require 'eglot)
(require 'jsonrpc)
(require 'seq)

(defgroup kernelcast nil
  "What OpenCL kernels cost."
  :group 'eglot)

(defcustom kernelcast-program "kernelcast"
  "The command that answers; a full path unless it is on the PATH."
  :type 'string)


;;; The language

(defconst kernelcast--keywords
  `((,(regexp-opt '("__kernel" "kernel" "__global" "global" "__local" "local" "__constant" "constant" "__private"
                    "private" "__read_only" "read_only" "__write_only" "write_only" "__read_write" "read_write")
                  'symbols)
     . font-lock-keyword-face)
    (,(rx symbol-start
          (or (seq (or "char" "uchar" "short" "ushort" "int" "uint" "long" "ulong" "half" "float" "double")
                   (opt (or "2" "3" "4" "8" "16")))
              (seq "image" (any "123") "d" (opt "_array") "_t")
              "sampler_t" "event_t")
          symbol-end)
     . font-lock-type-face)
    (,(rx symbol-start
          (or (seq "get_" (or "global" "local" "group" "num" "work") (any "_a-z") (* (any "_a-z")))
              "barrier" "mem_fence" (seq (or "convert_" "as_" "vload" "vstore" "atomic_" "atom_") (+ (any "_a-z0-9"))))
          symbol-end)
     . font-lock-builtin-face))
  "What OpenCL C has beyond C.")

;;;###autoload
(define-derived-mode opencl-mode c-mode "OpenCL"
  "OpenCL C: C with address spaces, vectors and work-items."
  (font-lock-add-keywords nil kernelcast--keywords))

;;;###autoload
(defun kernelcast-opencl-or-lisp-mode ()
  "OpenCL C, unless the file begins with Lisp: both call their files `.cl'."
  (if (save-excursion (goto-char (point-min)) (looking-at-p (rx (* space) (or ";" "(" "#|"))))
      (lisp-mode)
    (opencl-mode)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.cl\\'" . kernelcast-opencl-or-lisp-mode))
;;;###autoload
(add-to-list 'auto-mode-alist '("\\.\\(?:clh\\|opencl\\)\\'" . opencl-mode))

(add-hook 'opencl-mode-hook #'eglot-ensure)


;;; The server

(defclass kernelcast-server (eglot-lsp-server) ()
  :documentation "A server whose hints change by themselves.")

(add-to-list 'eglot-server-programs
             `(((opencl-mode :language-id "opencl") (opencl-c-mode :language-id "opencl"))
               . ,(lambda (&rest _) (list 'kernelcast-server kernelcast-program "serve" "--stdio"))))

(cl-defmethod eglot-client-capabilities ((_server kernelcast-server))
  "Hints may be asked for anew."
  (let ((all (cl-call-next-method)))
    (plist-put all :workspace (plist-put (plist-get all :workspace) :inlayHint '(:refreshSupport t)))))

(cl-defmethod eglot-handle-request ((server kernelcast-server) (_method (eql workspace/inlayHint/refresh)) &rest _)
  "Fetch the hints anew; the old ones stay until the new ones are there."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and (bound-and-true-p eglot-inlay-hints-mode) (eq (eglot-current-server) server))
        (save-restriction
          (widen)
          (eglot--update-hints-1 (point-min) (point-max))))))
  (kernelcast--renew-eldoc server)
  nil)

(defun kernelcast--renew-eldoc (server)
  "Let eldoc ask SERVER again about the selected window's buffer.
Eldoc itself asks again only after point has moved.  What another
command wrote into the echo area stays there."
  (with-current-buffer (window-buffer)
    (when (and eldoc-mode (eq (eglot-current-server) server))
      (setq eldoc--last-request-state nil)
      (when (member (current-message) (list nil eldoc-last-message))
        (eldoc-print-current-symbol-info)))))

(cl-defmethod eglot-execute ((server kernelcast-server) action)
  "Run Kernelcast's own commands without holding Emacs up: they take seconds."
  (let ((command (kernelcast--command action)))
    (if (not (and command (string-prefix-p "kernelcast." (plist-get command :command))))
        (cl-call-next-method)
      (message "%s ..." (string-remove-suffix " ..." (plist-get command :title)))
      (kernelcast--run server (plist-get command :command) (append (plist-get command :arguments) nil)))))

(defun kernelcast--command (action)
  "The command in a code ACTION, or ACTION itself; nil for a plain edit."
  (let ((command (plist-get action :command)))
    (if (stringp command) action command)))


;;; Commands

(defvar kernelcast--running nil
  "Pairs of server and progress token of what is under way, latest first.")

(defun kernelcast--server ()
  (let ((server (eglot-current-server)))
    (if (cl-typep server 'kernelcast-server) server
      (user-error "Kernelcast does not run in this buffer: M-x eglot starts it"))))

(defun kernelcast--run (server command arguments)
  "Let SERVER execute COMMAND with ARGUMENTS; it tells what comes of it."
  (let* ((run (cons server (format "%s %d" command (float-time))))
         (done (lambda (&rest _) (setq kernelcast--running (delq run kernelcast--running)))))
    (push run kernelcast--running)
    (jsonrpc-async-request server :workspace/executeCommand
                           (list :command command :arguments (vconcat arguments) :workDoneToken (cdr run))
                           :timeout nil
                           :success-fn done
                           :error-fn (lambda (failure)
                                       (funcall done)
                                       (message "%s: %s" command (plist-get failure :message))))))

(defun kernelcast--measure (command)
  "Run what the code actions at point offer under COMMAND.
Ask which one where there are several."
  (let* ((server (kernelcast--server))
         (found (seq-filter (lambda (action)
                              (equal (plist-get (kernelcast--command action) :command) command))
                            (eglot-code-actions (point) (point) "kernelcast")))
         (titles (mapcar (lambda (action) (plist-get action :title)) found)))
    (unless found (user-error "No kernel that can be measured stands at point"))
    (let ((title (if (cdr titles) (completing-read "Measure: " titles nil t) (car titles))))
      (eglot-execute server (seq-find (lambda (action) (equal (plist-get action :title) title)) found)))))

(defun kernelcast-measure ()
  "Run the kernel at point on the device, and show what it takes."
  (interactive)
  (kernelcast--measure "kernelcast.measure"))

(defun kernelcast-measure-sizes ()
  "Run the kernel at point at several sizes, to predict all others by them."
  (interactive)
  (kernelcast--measure "kernelcast.measureSizes"))

(defun kernelcast-cancel ()
  "Give up what was started last and still runs."
  (interactive)
  (pcase-let ((`(,server . ,token) (or (car kernelcast--running) (user-error "Nothing of Kernelcast's is running"))))
    (jsonrpc-notify server :window/workDoneProgress/cancel (list :token token))))

(defun kernelcast-choose-device ()
  "Choose the device that predictions and measurements are for."
  (interactive)
  (kernelcast--run (kernelcast--server) "kernelcast.chooseDevice" nil))

(defun kernelcast-report ()
  "Open the performance report of this file's kernels in the browser."
  (interactive)
  (kernelcast--run (kernelcast--server) "kernelcast.report" (list (eglot-path-to-uri (buffer-file-name)))))

(defun kernelcast-embedded ()
  "Let Kernelcast answer in this Python, C or C++ file.
Its kernels stand in string literals.  Eglot has one server for a buffer:
it takes the place of the language's own."
  (interactive)
  (unless (save-excursion
            (goto-char (point-min))
            (re-search-forward (rx (or "__kernel" (seq "kernel" (+ space) "void"))) nil t))
    (user-error "No kernel stands in this file"))
  (let ((language (cond ((derived-mode-p 'python-base-mode 'python-mode) "python")
                        ((derived-mode-p 'c++-mode 'c++-ts-mode) "cpp")
                        (t "c"))))
    (eglot (list major-mode) (eglot--current-project) 'kernelcast-server
           (list kernelcast-program "serve" "--stdio") (list language))))

(provide 'kernelcast)
;;; kernelcast.el ends here
