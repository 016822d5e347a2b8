; Colours for OpenCL C by the grammar of C.

(comment) @comment
(string_literal) @string
(char_literal) @string
(number_literal) @number
(primitive_type) @type
(type_identifier) @type
(identifier) @variable
(field_identifier) @property
(call_expression function: (identifier) @function)
(function_declarator declarator: (identifier) @function)
(preproc_directive) @keyword
[
  "break" "case" "const" "continue" "default" "do" "else" "enum" "for" "goto" "if" "inline" "return" "sizeof" "static"
  "struct" "switch" "typedef" "union" "volatile" "while" "#define" "#elif" "#else" "#endif" "#if" "#ifdef" "#ifndef"
  "#include"
] @keyword

((identifier) @keyword (#match? @keyword "^(__)?(kernel|global|local|constant|private|read_only|write_only|read_write)$"))
((type_identifier) @keyword (#match? @keyword "^(__)?(kernel|global|local|constant|private|read_only|write_only|read_write)$"))
