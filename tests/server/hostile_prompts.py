"""What those of hostile_chat.py send: conversations, schemas, grammars, options and tools, each with a name and the statuses that are right."""
import json
import random

MUCH = 10 << 20
WORD = 2 << 20  # of a single word, which takes a tokenizer longer
DEEP = 100_000
FRANCE = [{"role": "user", "content": "What is the capital of France? Answer in one sentence."}]


def said(text):
    return [{"role": "user", "content": text}]


def chat(**fields):
    """The body of a conversation."""
    return json.dumps({"messages": said("Hi."), "temperature": 0, "max_tokens": 2} | fields)


def function(name, parameters=None, **more):
    return {"type": "function", "function": {"name": name, "parameters": parameters or {"type": "object"}} | more}


def called(arguments, **more):
    return [*said("Hi."), {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments} | more}]}, {"role": "tool", "tool_call_id": "a", "content": "done"}]


def big_prompts():
    """Prompts of 10 MB: each has no room, whatever is in them."""
    some = random.Random(7)
    texts = {
        "one letter": "a" * WORD,
        "spaces": " " * WORD,
        "lines": "\n" * WORD,
        "digits": "1" * MUCH,
        "ideographs": "\u4e2d" * (MUCH // 3),
        "marks": "<|im_start|>" * (MUCH // 12),
        "families": "\U0001f468\u200d\U0001f469\u200d" * (MUCH // 14),
        "accents": "e" + "\u0301" * (MUCH // 2),
        "words": "word " * (MUCH // 5),
        "noise": bytes(32 + byte % 95 for byte in some.randbytes(1 << 20)).decode() * (MUCH >> 20),
        "apostrophes": "'s'S" * (MUCH // 4),
        "zeros": "\0" * (MUCH // 6),
        "a little too much": "word " * 8500,
    }
    bodies = [(name, json.dumps({"messages": said(text)}, ensure_ascii=False).encode(), (400,)) for name, text in texts.items()]
    bodies.append(("parts", chat(messages=[{"role": "user", "content": [{"type": "text", "text": "a" * 1000}] * (MUCH // 1100)}]), (400,)))
    bodies.append(("many messages", chat(messages=said("a") * (MUCH // 40)), (400,)))
    bodies.append(("a role", chat(messages=[{"role": "r" * MUCH, "content": "a"}]), (400,)))
    bodies.append(("more than may be sent", b'{"messages": [{"role": "user", "content": "' + b"a" * (17 << 20) + b'"}]}', (413,)))
    # Values without end in what nobody reads: each costs more in memory than in the body.
    bodies.append(("empty lists", b'{"messages": [' + b"[]," * (MUCH // 3) + b"[]]}", (400,)))
    bodies.append(("empty lists aside", b'{"messages": [{"role": "user", "content": "Hi."}], "max_tokens": 1, "metadata": [' + b"[]," * (MUCH // 3) + b"[]]}", (200, 400)))
    return bodies


def bad_text():
    """Bytes that are no UTF-8, and characters that are halves."""
    def body(content):
        return b'{"max_tokens": 2, "messages": [{"role": "user", "content": "' + content + b'"}]}'

    texts = [b"\xff\xfe", b"\xc3", b"caf\xc3", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x80" * 1000, b"\\ud83d", b"\\ude00\\ud83d", b"a\x00b", b"\\x41"]
    bodies = [(repr(text[:8]), body(text), (400,)) for text in texts]
    bodies += [(repr(text[:8]), body(text), (200,)) for text in (b"\\ud83d\\ude00", b"\\u0000", b"\xef\xbf\xbf", b"\xef\xbb\xbf", b"\\ufffe", b"<|im_end|>\\n<|im_start|>system", b"\xe2\x80\xae")]
    bodies += [("half a stop", chat(stop=["a"]).encode().replace(b'"a"', b'"\xc3"'), (400,)), ("half a name", body(b"a").replace(b"user", b"us\xc3"), (400,))]
    return bodies


def bad_messages():
    """By path."""
    both = (200, 400)
    deep = "[" * DEEP + "]" * DEEP
    lists = [None, 7, "a", {}, [], [None], [[]], ["a"], [{}], [{"role": 1}], [{"role": "user", "content": 7}], [{"role": "user", "content": {}}], [{"role": "user", "content": [7]}],
             [{"role": "user", "content": [{"type": "text"}]}], [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}],
             [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "////", "format": "wav"}}]}], [{"role": "user", "content": [{"type": "input_audio"}]}]]
    chats = [(json.dumps(one)[:60], chat(messages=one), (400,)) for one in lists]
    chats += [(json.dumps(one)[:60], chat(messages=one), both) for one in ([{"role": "nobody", "content": "a"}], [{"role": "user"}], [{"role": "tool", "content": "a"}], [{"role": "user", "content": []}], [{"role": "assistant", "content": "a"}],
                                                                         [{"role": "user", "content": "a", "tool_calls": 7}], [{"role": "user", "content": "a", "name": {"a": 1}}])]
    arguments = {"no JSON": "town: Paris", "half": '{"town": "Par', "a number": 7, "a list": [1], "nothing": "", "null": None, "deep": deep, "deeper": '{"a":' * DEEP + "1" + "}" * DEEP, "half and deep": "[" * DEEP, "a large number": "9" * DEEP,
                 "no number": '{"a": 1e999999}', "a bomb of text": '{"a": "' + "b" * (1 << 20) + '"}', "an object": {"a": {"b": 1}}}
    chats += [(f"arguments: {name}", chat(messages=called(one)), both) for name, one in arguments.items()]
    chats += [(f"calls: {json.dumps(one)[:40]}", chat(messages=[*said("Hi."), {"role": "assistant", "tool_calls": one}]), both) for one in (7, [7], [{}], [{"function": 7}], [{"function": {}}], [{"function": {"name": 7}}], [{"function": {"name": "f"}}])]
    items = [None, 7, [], [7], [{}], [{"type": 7}], [{"type": "message"}], [{"type": "message", "role": 7, "content": 7}], [{"type": "function_call"}], [{"type": "function_call", "name": "f", "arguments": deep, "call_id": "a"}],
             [{"type": "function_call_output", "output": {"a": [1]}, "call_id": "a"}], [{"type": "nothing"}], [{"type": "item_reference", "id": "a"}]]
    responses = [(json.dumps(one)[:60], json.dumps({"input": one, "max_output_tokens": 2}), both) for one in items]
    responses += [(str(more), json.dumps({"input": "Hi.", "max_output_tokens": 2} | more), both) for more in ({"text": {"format": 7}}, {"text": 7}, {"reasoning": 7}, {"reasoning": {"effort": 7}}, {"tools": 7}, {"tools": [{"type": "web_search"}]}, {"tool_choice": {"type": "f"}})]
    return [("/v1/chat/completions", chats), ("/v1/responses", responses)]


def schema_bombs():
    nested = {"type": "string"}
    for _ in range(25):
        nested = {"type": "object", "properties": {"a": nested}}
    alternatives = {"anyOf": [{"type": "object", "properties": {f"a{i}": {"type": "integer"}}} for i in range(900)]}
    product = {"allOf": [{"anyOf": [{"type": "object", "properties": {f"p{i}{j}": {"type": "integer"}}} for j in range(30)]} for i in range(8)]}
    doubled = {"$defs": {f"d{i}": {"type": "object", "properties": {"a": {"$ref": f"#/$defs/d{i + 1}"}, "b": {"$ref": f"#/$defs/d{i + 1}"}}} for i in range(200)} | {"d200": {"type": "string"}}, "$ref": "#/$defs/d0"}
    mutual = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
    tree = {"$defs": {"t": {"type": "object", "properties": {"left": {"$ref": "#/$defs/t"}, "right": {"$ref": "#/$defs/t"}}}}, "$ref": "#/$defs/t"}
    lists = {"type": "integer"}
    for _ in range(20):
        lists = {"type": "array", "items": lists, "minItems": 1000, "maxItems": 1000}
    subsets = {"allOf": [{"type": "object", "required": [f"a{i}"]} for i in range(500)], "properties": {f"a{i}": {"enum": list(range(100))} for i in range(500)}}
    return [
        ("deep", nested),
        ("a reference to itself", {"$ref": "#"}),
        ("references in a ring", mutual),
        ("a reference to nothing", {"$ref": "#/$defs/none"}),
        ("a reference to elsewhere", {"$ref": "http://127.0.0.1/schema.json"}),
        ("a reference into itself", {"type": "array", "items": {"$ref": "#"}}),
        ("allOf itself", {"allOf": [{"$ref": "#"}, {"type": "object"}]}),
        ("anyOf itself", {"anyOf": [{"$ref": "#"}, {"type": "object", "properties": {"a": {"$ref": "#"}}}]}),
        ("a tree", tree),
        ("two of two of two", doubled),
        ("properties", {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(990)}, "required": [f"p{i}" for i in range(990)]}),
        ("properties of properties", {"type": "object", "properties": {f"p{i}": {"type": "object", "properties": {f"q{j}": {"type": "object"} for j in range(90)}} for i in range(90)}}),
        ("alternatives", alternatives),
        ("a product of alternatives", product),
        ("oneOf", {"oneOf": [{"type": "object", "properties": {"a": {"const": i}}} for i in range(900)]}),
        ("oneOf of the same", {"oneOf": [{"type": "object"}] * 900}),
        ("constants", {"enum": [f"{i:x}" * 8 for i in range(100_000)]}),
        ("constants alike", {"enum": ["a" * i for i in range(3000)]}),
        ("a constant of megabytes", {"const": "a" * (4 << 20)}),
        ("a constant that is deep", {"const": json.loads("[" * 50 + "]" * 50)}),
        ("items of items", lists),
        ("items without end", {"type": "array", "minItems": 10**9}),
        ("items in a place", {"type": "array", "prefixItems": [{"type": "string"}] * 50_000}),
        ("letters without end", {"type": "string", "minLength": 10**9, "maxLength": 2 * 10**9}),
        ("letters", {"type": "string", "minLength": 900_000, "maxLength": 999_999}),
        ("a number's borders", {"type": "integer", "minimum": -(10**300), "maximum": 10**300}),
        ("a number of digits", {"type": "integer", "minimum": int("9" * 4000)}),
        ("required that are not", subsets),
        ("a pattern of stars", {"type": "string", "pattern": "^(a*)*$"}),
        ("a pattern of choices", {"type": "string", "pattern": "^(a|a)*(a|a)*(a|a)*b$"}),
        ("a pattern of repeats", {"type": "string", "pattern": "^((a{1,1000}){1,1000}){1,1000}$"}),
        ("a pattern of sets", {"type": "string", "pattern": "^" + "[a-z]?" * 3000 + "[a-z]{3000}$"}),
        ("a pattern that is deep", {"type": "string", "pattern": "(" * 5000 + "a" + ")" * 5000}),
        ("a pattern that is none", {"type": "string", "pattern": "(["}),
        ("a pattern that looks behind", {"type": "string", "pattern": "(?<=a)b(?!c)\\1"}),
        ("patterns of names", {"type": "object", "patternProperties": {f"^{'a?' * 50}{i}$": {} for i in range(200)}}),
        ("not", {"not": {"not": {"not": {"type": "string"}}}}),
        ("false", {"type": "object", "properties": {"a": False}, "required": ["a"]}),
        ("types that are none", {"type": ["nothing", 7]}),
        ("properties that are none", {"type": "object", "properties": []}),
        ("a name of megabytes", {"type": "object", "properties": {"n" * (2 << 20): {"type": "string"}}}),
        ("half a character", {"const": "\ud83d"}),
    ]


def grammar_bombs():
    return [
        ("itself", "root ::= root"),
        ("itself at the left", 'root ::= root "a" | "b"'),
        ("each other at the left", 'root ::= a\na ::= b "x" | "y"\nb ::= a "z" | "w"'),
        ("itself twice", 'root ::= root root | "a" | " "'),
        ("itself in the middle", 'root ::= "a" root "a" | "a" | ""'),
        ("itself at both sides", 'root ::= [a-z ]* root [a-z ]* | "."'),
        ("nothing for ever", 'root ::= ""*'),
        ("nothing in nothing", "root ::= ((\"\"*)*)*"),
        ("letters in letters", 'root ::= (((([a-z ]*)*)*)*)*'),
        ("readings", 'root ::= ' + " ".join(['([a-z ]* | [a-zA-Z ]*)'] * 200)),
        ("optional letters", 'root ::= ' + '[a-zA-Z ]? ' * 5000 + '"."'),
        ("rules", "\n".join(["root ::= r0"] + [f'r{i} ::= r{i + 1} | "a" r{i + 1}' for i in range(20_000)] + ['r20000 ::= "b"'])),
        ("two of two of two", "\n".join(["root ::= r0"] + [f"r{i} ::= r{i + 1} r{i + 1}" for i in range(100)] + ['r100 ::= "b"'])),
        ("words", "root ::= " + " | ".join(f'"word{i}"' for i in range(50_000))),
        ("words alike", "root ::= " + " | ".join('"' + "a" * i + '"' for i in range(1, 2000))),
        ("a word of megabytes", 'root ::= "' + "a" * (4 << 20) + '"'),
        ("repeats", 'root ::= "a"{1000000}'),
        ("repeats of repeats", 'root ::= ((("a"{1000}){1000}){1000}){1000}'),
        ("repeats without end", 'root ::= "a"{99999999999999999999}'),
        ("repeats that fall", 'root ::= "a"{9,3}'),
        ("brackets", "root ::= " + "(" * DEEP + '"a"' + ")" * DEEP),
        ("half a bracket", 'root ::= ("a"'),
        ("a rule that is none", "root ::= nobody"),
        ("no root", 'a ::= "a"'),
        ("no rule", "hello"),
        ("a set that is none", "root ::= [z-a]"),
        ("an empty set", "root ::= []"),
        ("all but all", "root ::= [^\\x00-\\U0010FFFF]"),
        ("characters that are none", 'root ::= "\\xff\\uD800"'),
        ("deep calls", 'root ::= "(" root ")" | "[" root "]" | [a-z ]+'),
        ("sets", "root ::= " + " ".join(["[" + "".join(chr(0x4E00 + 2 * i) for i in range(3000)) + "]"] * 50)),
        ("nothing that ends", 'root ::= "a" root'),
        ("comments", "# " * (1 << 20) + '\nroot ::= "a"'),
    ]


def bad_options():
    both = (200, 400)
    bodies = [
        ("thousands of stops", chat(stop=[str(i) for i in range(5000)]), (400,)),
        ("stops of megabytes", chat(stop=["a" * (500 << 10)] * 16, max_tokens=16), both),
        ("stops that are none", chat(stop=[7]), (400,)),
        ("stops of nothing", chat(stop=["", ""]), both),
        ("a stop that always comes nearly", chat(stop=["a" * i + "b" for i in range(1, 17)], max_tokens=16), both),
        ("a thousand replies", chat(n=1000), (400,)),
        ("no reply", chat(n=0), (400,)),
        ("half a reply", chat(n=1.5), (400,)),
        ("replies", chat(n=32, max_tokens=1), (200,)),
        ("tokens without end", chat(max_tokens=10**30), (400,)),
        ("tokens below none", chat(max_tokens=-5), (400,)),
        ("likeliest of thousands", chat(logprobs=True, top_logprobs=5000), (400,)),
        ("biases", chat(logit_bias={str(i): 1 for i in range(40_000)}), (400,)),
        ("a bias of a token that is none", chat(logit_bias={"99999999": 1}), (400,)),
        ("a bias of words", chat(logit_bias={"word": 1}), (400,)),
        ("a bias that is none", chat(logit_bias={"7": "a"}), (400,)),
        ("a bias of hundreds", chat(logit_bias={"7": 1000}), (400,)),
        ("a list of biases", chat(logit_bias=[[7, 1]]), (400,)),
        ("biases, all at most", chat(logit_bias={str(i): 100 for i in range(990)}), (200,)),
        ("biases, all at least", chat(logit_bias={str(i): -100 for i in range(990)}), (200,)),
        ("a template's arguments", chat(chat_template_kwargs={"messages": 7, "add_generation_prompt": False, "bos_token": "x" * 100, "tools": "a", "strftime_now": 7, "raise_exception": 7}), both),
        ("arguments that are none", chat(chat_template_kwargs=[7]), (400,)),
        ("an effort that is none", chat(reasoning_effort="a" * 10_000), (400,)),
        ("a form that is none", chat(response_format={"type": "a" * 100_000}), (400,)),
        ("a form without", chat(response_format={"type": "json_schema"}), (400,)),
        ("forms", chat(grammar='root ::= "a"', json_schema={}), (400,)),
        ("a model of megabytes", chat(model="m" * (1 << 20)), both),
        ("streams of words", chat(stream="yes"), (400,)),
        ("options of a stream", chat(stream=True, stream_options={"include_usage": "yes"}), both),
        ("names without end", chat(**{f"field{i}": i for i in range(900)}), (200,)),
        ("a name of megabytes", chat(**{"n" * (1 << 20): 1}), both),
    ]
    # A form that allows a few tokens alone, each of which is banned.
    letters = {str(i): -100 for i in range(990)}
    bodies += [(f"a form against biases, {fields}", chat(grammar='root ::= [!-~]', logit_bias=letters, **fields), both) for fields in ({}, {"temperature": 1.0}, {"temperature": 1.0, "top_k": 0, "top_p": 1, "min_p": 0})]
    extremes = {"temperature": (0, 1e-45, 1e-40, 1e-30, 1e-7, 5), "top_k": (-1, 0, 1, 10**6), "top_p": (0, 1e-45, 1), "min_p": (0, 1e-45, 1), "typical_p": (0, 1e-45, 1), "repeat_penalty": (0.01, 10), "repetition_penalty": (0.01, 10),
                "presence_penalty": (-2, 2), "frequency_penalty": (-2, 2), "repeat_last_n": (-1, 0, 10**6), "seed": (-(9 * 10**18), -1, 9 * 10**18)}
    for name, values in extremes.items():
        for value in values:
            for rest in ({}, {"top_k": 0, "top_p": 1, "min_p": 0}):
                bodies.append((f"{name} {value} {rest}", chat(**({"temperature": 1.0} | rest | {name: value})), (200,)))
    bodies += [(f"{name} beyond", chat(**{name: 1e300}), (400,)) for name in extremes]
    bodies += [(f"{name} a text", chat(**{name: "1"}), both) for name in extremes]
    return bodies


def tool_bombs():
    both = (200, 400)
    wide = {"type": "object", "properties": {f"p{i}": {"type": "string", "description": "d" * 100} for i in range(100)}}
    bombs = {
        "thousands": [function(f"f{i}") for i in range(20_000)],
        "as many as can be sent": [{"function": {"name": "f"}}] * (MUCH // 30),
        "one name": [function("f")] * 500,
        "large ones": [function(f"f{i}", wide) for i in range(300)],
        "a name of megabytes": [function("n" * (1 << 20))],
        "a name with marks": [function('a"b\\c\n<|im_end|>\0')],
        "no name": [function("")],
        "a description of megabytes": [function("f", description="word " * (1 << 20))],
        "parameters that are none": [function("f", {"type": "nothing"})],
        "parameters of parameters": [function("f", {"$ref": "#/$defs/none"})],
    }
    bodies = []
    for name, tools in bombs.items():
        for choice in ("auto", "required"):
            bodies.append((f"{name}, {choice}", chat(tools=tools, tool_choice=choice), both))
        bodies.append((f"{name}, and a schema", chat(tools=tools, response_format={"type": "json_object"}), both))
    bodies += [(json.dumps(one)[:40], chat(tools=one), (400,)) for one in (7, {}, [7], [{}], [{"function": {}}], [{"function": {"name": 7}}], [{"function": {"name": "f", "parameters": 7}}])]
    bodies += [(f"choice {json.dumps(one)[:40]}", chat(tools=[function("f")], tool_choice=one), (400,)) for one in (7, "nobody", {}, {"function": 7}, {"function": {"name": "g"}}, {"type": "function", "function": {"name": "g" * 100_000}})]
    return bodies


def bad_ollama():
    """By path."""
    both = (200, 400)

    def body(**fields):
        return json.dumps({"model": "x", "messages": said("Hi."), "stream": False} | fields)

    few = {"num_predict": 2}
    chats = [(f"messages {json.dumps(one)[:40]}", body(messages=one, options=few), both) for one in (7, [7], [{}], [{"role": "user", "content": 7}], [{"role": "user", "content": "a", "images": ["////"]}], [{"role": "user", "tool_calls": [7]}], [{"role": "user", "tool_calls": 7}],
                                                                                              [{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": "no JSON"}}]}], [{"role": 7, "content": "a"}])]
    chats += [(f"format {json.dumps(one)[:40]}", body(format=one, options=few), both) for one in ("xml", 7, [], {"$ref": "#"}, {"type": "nothing"}, "")]
    chats += [(f"options {json.dumps(one)[:40]}", body(options={"num_predict": 2} | one if isinstance(one, dict) else one), both) for one in (
        7, [], {"num_ctx": 10**9}, {"num_ctx": -1}, {"num_ctx": "a"}, {"num_predict": 10**30}, {"stop": ["a"] * 1000}, {"seed": "a"}, {"temperature": -1}, {"nothing": 1}, {f"o{i}": i for i in range(900)}, {"num_gpu": 99, "mirostat": 2})]
    chats += [(f"keep_alive {one}", body(keep_alive=one, options=few), both) for one in ("a", "-1s", -1, 10**30, [], {}, "9" * 1000 + "h", 1e300)]
    chats += [(f"think {one}", body(think=one, options=few), both) for one in ("a", 7, [], "max", "")]
    chats += [(f"tools {json.dumps(one)[:40]}", body(tools=one, options=few), both) for one in (7, [7], [function("f", {"type": "nothing"})])]
    generates = [("suffix", body(prompt="a", suffix="b"), (400,)), ("images", body(prompt="a", images=["////"]), (400,)), ("template", body(prompt="a", template="{{ .Prompt }}" * 10_000, options=few), both),
                 ("context", body(prompt="a", context=list(range(5000)), options=few), both), ("nothing raw", body(prompt="", raw=True), both)]
    names = [("a name that is none", json.dumps({"model": one}), (200, 400, 404)) for one in ("../../etc/passwd", "", "a" * 100_000, "a\0b", ":", "x:y:z")]
    return [("/api/chat", chats), ("/api/generate", generates), ("/api/show", names)]


def long_conversations():
    """Many small messages: each was allowed by how large a body may be, and none has room."""
    both = (200, 400)
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "a", "content": "done"}
    conversations = {
        "turns": turns * 5000,
        "turns without end": turns * 50_000,
        "systems": [{"role": "system", "content": "a"}] * 50_000 + said("Hi."),
        "calls": [*said("Hi."), {"role": "assistant", "tool_calls": [call] * 80_000}],
        "results": [*said("Hi."), {"role": "assistant", "tool_calls": [call]}, *[result] * 100_000],
        "calls and results": [*said("Hi."), *[{"role": "assistant", "tool_calls": [call]}, result] * 40_000],
        "users behind results": [*said("Hi."), {"role": "assistant", "tool_calls": [call]}, result, *said("a")] * 20_000,
        "parts": [{"role": "user", "content": [{"type": "text", "text": "a"}]}] * 60_000,
    }
    bodies = [(name, chat(messages=messages), (400,)) for name, messages in conversations.items()]
    bodies += [(f"{name}, the oldest left out", chat(messages=conversations[name], truncation="auto"), both) for name in ("turns without end", "systems", "calls", "results")]
    return bodies


def numbers_that_are_none():
    """JSON that no library writes."""
    texts = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e-999", "-0", "-0.0", "01", ".5", "5.", "+1", "0x10", "1_000", "1e", "-", "9" * 10_000, "0." + "1" * 10_000, "true", "null", '""', '"NaN"', "18446744073709551615", "18446744073709551616", "-9223372036854775809", "9007199254740993")
    fields = ("temperature", "top_p", "top_k", "max_tokens", "max_completion_tokens", "n", "seed", "presence_penalty", "top_logprobs", "thinking_budget", "repeat_last_n")
    bodies = [(f"{field} {text[:24]}", b'{"messages": [{"role": "user", "content": "Hi."}], "max_tokens": 2, "' + f'{field}": {text}'.encode() + b"}", (200, 400)) for field in fields for text in texts]
    bodies += [(f"tokens {most}", chat(max_tokens=most), (400,)) for most in (0, -2, -(2**31), -(2**63), 1.5, [], {}, "7")]
    bodies += [(f"tokens {most}", chat(max_tokens=most, stop=["a", "e", "i", "o", "u", " ", "."]), (200, 400)) for most in (-1, 2**31 - 1, 2**31, 2**32 + 1, 2**53, 2**63 - 1)]
    bodies += [(f"replies {count}", chat(n=count), (400,)) for count in (-1, 2**31, 2**32 + 1, 1e300, "2", [], True)]
    bodies += [("biases without end", chat(logit_bias={str(i): 0 for i in range(100_000)}), (400,)), ("a bias without end", b'{"messages": [{"role": "user", "content": "Hi."}], "logit_bias": {"7": 1e999}}', (400,))]
    bodies += [(f"images, {kind}", chat(messages=[{"role": "user", "content": [part]}]), (400,)) for kind, part in (
        ("a megabyte", {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * (8 << 20)}}), ("an address", {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}),
        ("of responses", {"type": "input_image", "image_url": "http://127.0.0.1:1/"}), ("files", {"type": "file", "file": {"file_id": "a"}}), ("no type", {"image": "a"}), ("a type that is none", {"type": ["text"], "text": "a"}))]
    return bodies


def text_lists():
    """What is to be made vectors of, by path."""
    both = (200, 400)

    def bodies(input_field, fixed):
        def body(value, **fields):
            return json.dumps(fixed | {input_field: value} | fields)

        lists = {"empty texts": [""] * 100_000, "a long text": "word " * (MUCH // 5), "a long word": "a" * WORD, "long words": ["a" * 100_000] * 100, "nothing": [], "none": None, "a number": 7,
                 "lists of nothing": [[]], "lists in lists": [[["a"]]], "deep": json.loads("[" * 50 + "]" * 50), "texts and tokens": ["a", [7]], "tokens that are none": [-1], "tokens beyond": [2**31], "tokens far beyond": [2**64], "parts of tokens": [1.5], "flags": [True],
                 "tokens without end": [101] * 400_000, "token lists": [[101, 102]] * 1000, "no text": "", "a zero": "\0", "half a character": "\ud83d", "marks": "[CLS][SEP][MASK][PAD][UNK]" * 100_000, "accents": "e" + "\u0301" * 500_000, "ideographs": "\u4e2d" * 1_000_000}
        sent = [(name, body(value), both) for name, value in lists.items()]
        sent += [(f"dimensions {one}", body("a", dimensions=one), both) for one in (0, -1, 1, 384, 385, 10**9, 1.5, "7", [], None)]
        sent += [(f"truncate {one}", body("word " * 10_000, truncate=one), both) for one in (False, "no", 0, None)]
        return sent + [("no UTF-8", body("a").replace('"a"', '"\xff"').encode("latin-1"), (400,)), ("a number without end", body(7).replace("7", "1e999"), (400,))]

    openai = bodies("input", {"model": "minilm"})
    openai.append(("as many as may be", json.dumps({"model": "minilm", "input": [""] * 10_000}), (200,)))
    openai += [(f"form {json.dumps(one)[:20]}", json.dumps({"model": "minilm", "input": "a", "encoding_format": one}), both) for one in ("int8", 7, "f" * 100_000, None, [])]
    return [("/v1/embeddings", openai), ("/api/embed", bodies("input", {"model": "minilm"})), ("/api/embeddings", bodies("prompt", {"model": "minilm"}))]


def texts_to_go_on_with():
    """Of /v1/completions."""
    def body(prompt, **fields):
        return json.dumps({"prompt": prompt, "max_tokens": 2, "temperature": 0} | fields)

    both = (200, 400)
    prompts = {"nothing": "", "none": None, "empty texts": [""] * 10_000, "texts without end": ["a"] * 100_000, "as many as may be": ["a"] * 32, "tokens": [1, 2, 3], "lists of tokens": [[1, 2], [3]], "an object": {"a": "b"}, "a zero": "\0", "half a character": "\ud83d", "a long word": "a" * WORD}
    bodies = [(name, body(prompt), both) for name, prompt in prompts.items()]
    bodies += [(str(fields)[:50], body("a", **fields), both) for fields in ({"n": 32}, {"n": 10**9}, {"best_of": 10**9}, {"echo": True, "logprobs": 5}, {"logprobs": 10**9}, {"logprobs": -7}, {"suffix": "b" * (1 << 20)}, {"grammar": 'root ::= root "a"'}, {"json_schema": {"$ref": "#"}})]
    return bodies
