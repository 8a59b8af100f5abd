# Makes a Julia function a simulator for Counterpoise. Needs no packages; copy it beside your script.
#
#     include("counterpoise.jl")
#
#     function simulate(theta, seed)          # a Dict of parameters; Random.seed!(seed) has been called
#         ...
#         return [1.5, 3.0]                   # statistics in their order
#     end
#
#     serve(simulate, ["mean", "max"])
#
# Only answers may go to the standard output: print to stderr.

using Random

quoted(text) = "\"" * replace(replace(text, r"[[:cntrl:]]" => " "), "\\" => "\\\\", "\"" => "\\\"") * "\""

# A request is {"id": 7, "seed": 1234567, "parameters": {"k": 0.1, "sigma": 2}}: too plain to need a package.
function read_request(line)
    id = match(r"\"id\": *(\d+)", line).captures[1]
    seed = parse(Int, match(r"\"seed\": *(\d+)", line).captures[1])
    inner = match(r"\"parameters\": *\{(.*)\}\}", line).captures[1]
    pairs = eachmatch(r"\"((?:[^\"\\]|\\.)*)\": *([-+.0-9eE]+)", inner)
    return id, seed, Dict(String(pair.captures[1]) => parse(Float64, pair.captures[2]) for pair in pairs)
end

# Answers requests until there are no more. An exception of `simulate` is a failed simulation, and no more.
function serve(simulate, statistics)
    say(line) = (println(stdout, line); flush(stdout))
    say("{\"ready\": true, \"statistics\": [" * join(map(quoted, statistics), ", ") * "]}")
    for line in eachline(stdin)
        id, seed, theta = read_request(line)
        answer = try
            Random.seed!(seed)
            values = Float64[value for value in simulate(theta, seed)]
            "{\"id\": $id, \"statistics\": [" * join(values, ", ") * "]}"
        catch exception
            reason = sprint(showerror, exception)
            println(stderr, reason)
            "{\"id\": $id, \"error\": " * quoted(reason) * "}"
        end
        say(answer)
    end
end
