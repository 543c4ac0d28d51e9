package pilot

// names is what sessions are called that nobody named: 200 things to see, eat
// or hear, of four to seven letters, easy to say and to type. None begins
// another one, or a word of the tools.
var names = [...]string{
	"acorn", "alder", "almond", "amber", "anchor", "anise", "apple", "apricot", "arbor", "aspen",
	"aster", "badger", "bamboo", "banjo", "barley", "basil", "beacon", "beaver", "birch", "bison",
	"bonsai", "breeze", "bridge", "brook", "butter", "cactus", "camel", "canoe", "canyon", "carrot",
	"cashew", "castle", "cedar", "cello", "cherry", "clay", "cliff", "clover", "cobalt", "cocoa",
	"comet", "copper", "coral", "cosmos", "cotton", "coyote", "crane", "cricket", "crystal", "cypress",
	"dahlia", "daisy", "delta", "desert", "dolphin", "domino", "dragon", "drift", "eagle", "ember",
	"emerald", "falcon", "fennel", "fern", "ferry", "fiddle", "finch", "fjord", "flint", "flute",
	"forest", "fossil", "garden", "garlic", "garnet", "gecko", "ginger", "glacier", "granite", "grape",
	"grove", "guitar", "harbor", "harvest", "hazel", "heather", "heron", "hickory", "holly", "honey",
	"indigo", "iris", "island", "ivory", "jade", "jaguar", "jasmine", "jasper", "juniper", "kayak",
	"kettle", "kiwi", "koala", "lagoon", "lantern", "laurel", "lemon", "lilac", "linden", "lotus",
	"lynx", "magnet", "mango", "maple", "marble", "meadow", "melon", "meteor", "mint", "mirror",
	"mocha", "mosaic", "moss", "muffin", "nectar", "nickel", "nutmeg", "oasis", "ocean", "olive",
	"onyx", "opal", "orbit", "orchid", "osprey", "otter", "oyster", "palm", "panda", "papaya",
	"pastel", "peach", "peanut", "pearl", "pebble", "pecan", "pelican", "pepper", "piano", "pine",
	"planet", "plum", "pollen", "poppy", "prism", "puffin", "pumpkin", "quail", "quartz", "quill",
	"rabbit", "radish", "raisin", "raven", "reef", "ridge", "river", "robin", "rocket", "ruby",
	"saffron", "sage", "salmon", "sequoia", "silver", "sparrow", "spruce", "stream", "summit", "sunset",
	"teapot", "thimble", "thyme", "tiger", "timber", "topaz", "tulip", "tumbler", "tundra", "turtle",
	"valley", "vanilla", "velvet", "violet", "walnut", "walrus", "willow", "wombat", "zebra", "zephyr",
}
