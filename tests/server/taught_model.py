"""A copy of a GGUF file whose chat template tells of tools: what small models' own do not."""
import struct

SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # of values by type (ggml-org/ggml docs/gguf.md)
TEXT, ARRAY = 8, 9
TEMPLATE = b"tokenizer.chat_template"
TOLD = (
    "{%- if tools %}{{- '<|im_start|>system\\nCall a tool as <tool_call>{\"name\": ..., \"arguments\": ...}</tool_call>. Tools: ' + (tools | tojson) + "
    "'<|im_end|>\\n' }}{%- endif %}"
)


class Head:
    """Reads the keys and the table of tensors."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def text(self):
        size = self.number("<Q")
        self.at += size
        return self.data[self.at - size : self.at]

    def skip(self, kind):
        if kind == TEXT:
            self.text()
        elif kind == ARRAY:
            of, count = self.number("<I"), self.number("<Q")
            if of == TEXT:
                for _ in range(count):
                    self.text()
            else:
                self.at += SIZES[of] * count
        else:
            self.at += SIZES[kind]


def calling(name, arguments="{}"):
    """The end of a template by which a model has called a tool in each reply to a user, whatever it would say itself."""
    call = f'<tool_call>\\n{{"name": "{name}", "arguments": {arguments}}}\\n'
    return "{%- if tools and messages[-1]['role'] == 'user' %}{{- '" + call + "' }}{%- endif %}"


def write_taught(source, target, behind=""):
    """Only the template is another; SOURCE is aligned by 32 bytes, as files are that say nothing else."""
    with open(source, "rb") as file:
        data = file.read()
    head = Head(data)
    assert head.number("<I") == 0x46554747 and head.number("<I") == 3, source
    tensors, keys = head.number("<Q"), head.number("<Q")
    for _ in range(keys):
        key, kind = head.text(), head.number("<I")
        assert key != b"general.alignment", source
        begin = head.at
        head.skip(kind)
        if key == TEMPLATE:
            place = (begin, head.at)
    for _ in range(tensors):
        head.text()
        dimensions = head.number("<I")
        head.at += 8 * dimensions + 4 + 8
    template = TOLD.encode() + data[place[0] + 8 : place[1]] + behind.encode()
    whole = data[: place[0]] + struct.pack("<Q", len(template)) + template + data[place[1] : head.at]
    with open(target, "wb") as file:
        file.write(whole + b"\0" * (-len(whole) % 32) + data[head.at + -head.at % 32 :])
    return target
