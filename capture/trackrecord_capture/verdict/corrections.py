"""The phrases with which a person says that the work before was wrong, by language.

Each line is a regular expression that the beginning of a prompt is compared with. A space stands
for any white space, and an apostrophe for both of its forms. `tests/capture/next_prompts` holds the
sentences that the phrases are measured on.
"""
# ruff: noqa: E501 - a phrase is one line, in its own writing

from collections.abc import Mapping
from typing import Final

_EN: Final = r"""
(?:it|that|this|the \w+) still (?:shows|uses|has|prints|returns|contains|takes|looks|says|gives|does|fails|throws|crashes)\b
(?:that|this|it)(?:'s| is) (?:a |an )?(?:terrible|horrible|awful|bad|useless|stupid|ugly|pointless) (?:solution|idea|fix|change|hack|approach|design)?
stop (?:doing|changing|editing|adding|deleting|touching) (?:that|this|it|things|files|everything|my)\b
you (?:have not|haven't|did not|didn't|don't|do not) (?:understand|understood|get|got)\b
(?:that|this|it)(?:'s| is) (?:exactly |precisely |just )*the (?:exact )?opposite\b
(?:it's |it is |this is |that's |even )*(?:worse|slower) than (?:before|it was)\b
the (?:\w+ ){1,2}(?:now )?(?:fails|crashes|hangs|breaks|freezes|times out|returns nothing|returns null)(?: now)?(?: (?:now|again|with)\b|,? (?:that|which|this)(?:'s| is) wrong)
(?:it|everything) (?:just |now )*(?:hangs|freezes|times out|loops)(?: (?:forever|now|again)\b| ?[.,!]|\Z)
(?:that|this|it) (?:just |has |also )*(?:deleted|removed|wiped|overwrote|erased|dropped|killed)\b
i (?:wanted|asked for|meant|need|said) (?:it |this |that |them )?.{1,40}?,? not (?:in|on|for|to|with|a|an|the|at|from|by|your)\b
you (?:put|placed|added|wrote|moved|made|named|used|called|picked|chose) .{0,20}?(?:the )?wrong(?:ly)?\b
(?:that|this|your) (?:change|fix|edit|commit|solution|code|refactoring) (?:is|was) (?:useless|pointless|wrong|bad|unnecessary|not needed|terrible|not what)\b
(?:the )?tests (?:still )?(?:do not|don't|aren't|are not) (?:pass|passing|green|even)\b
go back,? .{0,40}(?:old|previous|earlier) (?:version|one|code)\b
not even close\b
(?:that|this|it) (?:does not|doesn't) (?:match|follow|respect|meet|conform|correspond)\b
(?:reset|discard|drop|remove|delete) (?:all )?(?:your (?:changes|edits|commit)|that again)\b
looks? (?:wrong|broken|off|bad)\b
(?:that's|this is|that is|it's) not how\b
you (?:cheated|lied|made that up|just deleted|are wrong|were wrong|got it wrong|have it backwards)\b
(?:it|this|that|everything|the (?:result|output|total|totals|answer|import|export|build|ci|tests?|page|file|code|fix|login|server|numbers?|order|format|layout)) (?:is|are|looks|seems|comes out) (?:still |now |just |all |completely |totally )*(?:messed up|wrong|incorrect|broken|red|failing|off|garbage|corrupted|a mess)\b(?! one)
(?:this|that|it|you|which) (?:just |now |has |have |completely )*(?:broke|broken|crashed|breaks|messed up|killed|destroyed) (?!if\b)
ci is (?:red|failing|broken)
you(?:'re| are|'ve| have| just| only| now| also| even| again| simply)* (?:changed|reformatted|rewrote|rewritten|hallucinated|invented|faked|hard-?coded|skipped|disabled|commented out|made (?:this |it |that )?up|touched|duplicated|renamed the wrong|editing|changing|breaking|deleting|only (?:did|fixed|changed|half)|fixed half|fixed only|did half)\b(?! no)
i (?:still |now |just )*(?:get|see|have) (?:a|an|the|exactly)? ?(?:\w+ ){0,3}?(?:[45]\d\d|error|errors|exception|traceback|stack ?trace)(?: (?:now|again|when)\b| ?[.,!:]|\Z)
(?:that|this) is (?:exactly |precisely )+what i (?:told you not|said not|asked you not|did not|didn't)
(?:still|there is still|there's still) no (?:output|change|difference|effect|result|response|luck)\b
no (?:luck|effect|change|difference|improvement)(?: ?[.,!]|\Z)
(?:it |this |that )?fails? (?:again|with the same|now)\b
it (?:compiles|builds|runs|starts|works)(?: now)? but\b.{0,40}(?:fail|error|wrong|crash|broke|not\b|n't)
why (?:is|are) .{1,40}?(?:empty|gone|missing|broken|deleted|red|failing) now\b
(?:back out|take out|throw away|get rid of) (?:that|this|these|those|your|all of (?:that|it))\b
the (?:\w+ ){1,2}(?:does|do) nothing\b
(?:that|this|it)(?:'s| is| was) not (?:a|an|the|my) (?:real )?(?:fix|solution|question|answer|point|right|problem|idea)\b
(?:that|this) (?:isn't|wasn't) (?:a|an|the|my) (?:real )?(?:fix|solution|question|answer|right|point)\b
that (?:function|method|file|option|api|flag|package|module|class) (?:doesn't|does not) exist
(?:that|this|it)(?:'s| is| was| looks| seems) (?:still |all |just |now |completely |totally |plain |simply )*(?:wrong|incorrect|broken|worse|a mistake|failing|crashing|nonsense|the (?:same error|wrong|exact opposite|opposite))\b
(?:it|this|that|these|those|they|(?:the|your) (?:fix|change|changes|tests?|build|code|result|output|solution|patch))(?: is not| isn't| are not| aren't| was not| wasn't|'s not|'re not) (?:quite |even |at all )?(?:right|correct|working|what|it\b|fixed|compiling|true|how)
not (?:what i|fixed|working|correct|right[.,!]|like (?:that|this)|good enough)\b
(?:it|this|that|these|those|they|(?:the|your) (?:fix|change|changes|tests?|build|code|result|solution|patch|page|server|app)) (?:still )?(?:does not|doesn't|do not|don't|did not|didn't|won't|will not|cannot|can't) (?:even )?(?:work|compile|build|run|pass|help|fix|start|do what|look right|make sense|solve|change anything|address)\b
(?:does not|doesn't|did not|didn't) (?:even )?(?:work|compile|build|help|fix)\b
(?:it|this|that|these|those|they|(?:the|your) (?:same )?(?:fix|changes?|tests?|build|code|result|output|bug|error|problem|issue|page|server|app|ci)) (?:are |is )?still (?:fail|broken|red\b|wrong|not\b|crash|the same|there\b|empty|blank|get|happen|occur|persist|exist|present|does|do not|don't|throw|show)
(?:it|this|they)(?: now)? (?:fails?|failed|broke|breaks|crashes|crashed)\b(?! if\b| when the\b)
still (?:broken|failing|fails?\b|wrong|not\b|red\b|crash|the same|getting|does not|doesn't|do not|don't|no (?:output|change|luck|difference)|empty|blank|an error|errors)(?! covered| needed| urgent)
(?:getting |i (?:still )?(?:get|see|have) )?(?:exactly )?the same (?:error|exception|problem|failure|issue|bug)\b(?! (?:handling|messages?|code|should|must|for|in the))
same (?:error|exception|problem|failure|issue|bug)(?: (?:again|as|still|here|persists)\b|[.,!:]|\Z)
i (?:still|now) (?:get|see|have) (?:a|an|the|this|that|\d+)\b.{0,40}(?:error|exception|fail|traceback|warning|spinner|same|problem)
now (?:(?:it|the \w+|everything|all)(?: just| all)? (?:crash|fail|is broken|are broken|broke|breaks|does not|doesn't|do not|don't|hangs|won't|can't|cannot)|nothing (?:works|starts|compiles))
now (?:i|we) (?:get|am getting|are getting|see) (?:a|an|the|this|another|\d+)\b
(?:\d+|some|more|several|other) tests? (?:now )?(?:fail|are failing|is failing|broke)(?:s|ed)? (?:now|again)
(?:the|that) (?:\w+ ){1,2}(?:is|are) (?:failing|broken|blank|empty|gone|red) (?:now|again)\b
nothing (?:has )?(?:changed|works|happens|happened|is fixed)\b(?! in| without)
(?:you|you've|you have|you just|you've just) (?:just |also |completely |totally |again |accidentally )*(?:broke|broken|deleted|removed|forgot|forgotten|misunderstood|misread|ignored|missed|overwrote|overwritten|messed|screwed|destroyed|reverted|dropped)\b(?!\s(?:no|nothing|none|that i)\b)
you (?:did not|didn't|have not|haven't) (?:actually |even |really )?(?:run|change|changed|fix|fixed|do\b|done|update|updated|add|added|test|follow|read|listen|implement|finish|touch)\b
your (?:\w+ )?(?:fix|change|changes|solution|code|patch|edit|commit|test|refactoring|approach|version) (?:is |are |still |just |has |have |made )?(?:wrong|incorrect|breaks?|broke|broken|fails?|doesn't|does not|do not|don't|makes no|introduced|it worse)\b
(?:that|this|it|which) (?:only |just )?(?:made|makes) (?:it|things|everything) worse
(?:that|this)(?: \w+)? (?:makes no|made no|doesn't make|does not make) sense
i (?:already )?(?:said|told you|asked you) (?:not to|to not|don't|no |to leave|explicitly)\b
i (?:did not|didn't|never) (?:ask|asked|want|wanted|mean|meant|say|said|tell|told)\b(?! that)
why (?:did you|have you|would you|on earth) (?:just )?(?:delete|deleted|remove|removed|break|broken|revert|reverted|change|changed|ignore|ignored|overwrite|overwritten|touch|touched|drop|rewrite)\b
(?:undo|revert|roll back|rollback|take back|discard)(?: please)? (?:(?:all )?(?:that|this|it|these|those|your|everything|all|what you)\b|the (?:last|previous|latest) (?:change|changes|commit|edit|edits|step|one|thing)\b)
(?:undo|revert|rollback|roll back|discard)\s*(?:[.!,]|\Z)
(?:roll|take|put|change|turn|set|bring) (?:that|this|it|everything|them|all of (?:that|it)) back\b(?! (?:online|up|to (?:the (?:user|server|queue|pool)|\w+\.\w+)))
don't do (?:that|this|it)\b(?= ?[.,!])
go back to (?:the (?:previous|last|old|original|earlier|first) (?:version|state|one|code|approach)|how it was|what (?:it|we) (?:was|had))\b
restore (?:the )?(?:old|previous|original|deleted) (?:file|files|version|code|state|behaviou?r|content)\b
(?:the |that's the )?wrong(?! or\b)(?: (?:file|branch|approach|again|place|one|directory|folder|function|class|method|way|answer|direction|project|repo|repository|version|module)(?: ?[.,!;:—–-]|\Z| (?:again|please)\b)| ?[.,!;—–-]|\Z)
(?:bad|terrible|horrible|useless) (?:change|idea|fix|edit|solution|result|answer)\b
are you (?:kidding|serious|joking)\b
"""
_DE: Final = r"""
(?:es|das|die \w+|der \w+) (?:zeigt|nutzt|liefert|gibt|wirft|enthält|druckt|verwendet|hat) (?:immer noch|noch immer|weiterhin|nach wie vor)\b
(?:bitte )?(?:zurücknehmen|zurückdrehen|rückgängig machen|wieder zurück) ?[.,!]
(?:das|die|der) [\wäöüß-]+ ist (?:jetzt |nun |komplett |völlig |ganz |total )+(?:kaputt|falsch|zerschossen|leer|weg|rot)
das ist (?:eine? |so )?(?:furchtbar|schrecklich|schlecht|hässlich|unsinnig|sinnlos|dumm|übel)\w*
(?:lass das|hör auf damit|hör damit auf)(?: ?[.,!]|\Z)
du hast (?:das|mein|die|es) (?:\w+ )?(?:gar |überhaupt )?(?:nicht|falsch) (?:verstanden|gelesen|kapiert)
(?:das|es) ist (?:genau |ja )*das gegenteil\b
(?:es ist |das ist |noch )*(?:schlimmer|schlechter|langsamer) als (?:vorher|zuvor|vorhin)\b
(?:die|der|das) [\wäöüß-]+ (?:bricht|stürzt|schlägt|hängt|scheitert|liefert|läuft|laufen|gehen|geht) (?:jetzt |nun |wieder |immer noch |nicht )+
die tests (?:laufen|gehen) nicht\b
(?:das|es) hat (?:[\wäöüß]+ ){1,4}(?:gelöscht|überschrieben|entfernt|zerstört|kaputtgemacht|verschluckt)\b
ich (?:wollte|meinte|brauche|brauchte|will) (?:es |das |den |die )?.{1,40}?,? nicht (?:im|in|den|die|das|am|an|auf|für|so|mit|als)\b
du hast (?:es|das|sie|ihn) (?:ins|in die|in den|an die|auf die|auf den|an den)? ?falsche\w*
(?:die|diese|deine) (?:änderung|lösung|idee) (?:ist|war) (?:nutzlos|sinnlos|falsch|unnötig|schlecht|überflüssig|quatsch|keine)
(?:bitte )?zurück,? (?:bitte,? )?(?:die|der|das) (?:alte|vorherige)
jetzt hängt (?:es|alles|der|die|das)
nicht (?:mal )?ansatzweise
das (?:entspricht|passt|erfüllt) (?:überhaupt |gar |so )*nicht
nimm (?:das|es|die|den) (?:bitte )?wieder (?:raus|heraus|weg)
(?:das )?(?:sieht|wirkt) (?:so |immer noch |leider )*(?:falsch|kaputt|nicht richtig|verkehrt)
so (?:funktioniert|geht|läuft|klappt) (?:das|die|der|es)(?: [\wäöüß]+)? nicht
(?:das war|das ist) (?:gar |wirklich )?keine? (?:gute|echte|richtige|lösung|fix)\b
(?:du hast )?geschummelt|du hast (?:gelogen|gemogelt|dich (?:geirrt|vertan))
(?:das|die|der|dein\w*) (?:ergebnis|ausgabe|summe|antwort|test|tests|build|ci|code|lösung|import|format|reihenfolge|seite|zahlen) (?:ist|sind|war|stimmt|stimmen) (?:so |immer noch |jetzt |weiterhin |leider |komplett |wieder )*(?:falsch|kaputt|rot|leer|verkehrt|nicht (?:richtig|korrekt)|nicht\b)
(?:ci|build) ist (?:jetzt |wieder |immer noch |weiterhin )*(?:rot|kaputt)
(?:das|es|du) (?:hat|hast) .{0,40}?(?:zerschossen|zerstört|kaputt ?gemacht|zerlegt|verschlimmert|umformatiert|erfunden|umgeschrieben|ausgehebelt|auskommentiert)\b
(?:ich )?(?:bekomme|kriege|sehe|habe|erhalte)(?: ich)? (?:jetzt|immer noch|weiterhin|wieder|nun) (?:\w+ ){0,3}[\w-]*(?:fehler\w*|error|exception|stacktrace|traceback|[45]\d\d\w*)\b
jetzt (?:bekomme|kriege|sehe|habe|erhalte|gibt) (?:\w+ ){0,3}[\w-]*(?:[45]\d\d\w*|stacktrace|traceback|fehler\w*)
(?:das |es )?(?:bringt|nützt|hilft|ändert) (?:leider |auch |gar |überhaupt |so )*(?:nichts|nix|nicht)\b(?! aus)
(?:genau )?(?:das|die|den) (?:solltest|durftest|hättest) du (?:doch |gerade |eben |ja )*nicht\b
genau das (?:solltest|wollte|hatte|habe) .{0,20}\bnicht
du (?:solltest|durftest|hättest) .{0,50}?nicht (?:anfassen|ändern|löschen|anrühren|machen|tun|angefasst|verändern|umbauen|dürfen)\b
(?:mache?|nimm|setze?|drehe?|rolle?) (?:bitte )?(?:deine|die letzten|alle|deinen|die letzte) (?:[\w/]+ ){1,4}(?:rückgängig|zurück)\b
(?:das |es )?(?:schlägt|schlagen|fällt|stürzt|crasht|knallt) (?:wieder|immer noch|weiterhin|noch immer|erneut|jetzt)\b
(?:es|das) (?:kompiliert|baut|startet|läuft|geht)(?: zwar)?(?: jetzt)?,? aber\b.{0,40}(?:fehl|fehler|falsch|nicht|rot|kaputt|absturz)
du hast (?:nur|bloß|lediglich)\b
(?:das|es) (?:war|ist) (?:nicht (?:die|der|das|mein\w*)|kein\w*) (?:echte )?(?:frage|lösung|antwort|fix|reparatur|sinn|aufgabe|punkt)\b
(?:warum|wieso) (?:ist|sind) .{1,40}?(?:jetzt )?(?:leer|weg|kaputt|rot|gelöscht|verschwunden)
(?:der|die|das) [\wäöüß-]+ (?:tut|macht|bewirkt) (?:gar |überhaupt )?nichts\b
(?:die|diese|den|das) [\wäöüß-]+ (?:gibt es|existiert) (?:gar |überhaupt |doch )*nicht\b
hat (?:leider |auch |wieder |so )*nicht (?:geklappt|funktioniert|geholfen)|hat nichts (?:gebracht|geholfen)
(?:weiterhin|immer noch|noch immer|nach wie vor) (?:kein\w*|ohne)\b
(?:bitte )?(?:alles|das) (?:bitte )?(?:wieder )?(?:auf anfang|zurück)(?: bitte)?(?: ?[.,!]|\Z)
(?:das|es|dies|dieses?|die (?:lösung|änderung)|der (?:fix|ansatz)) (?:ist|war|sieht|sind|wäre) (?:so |immer noch |noch immer |weiterhin |jetzt |einfach |komplett |völlig |total |alles |leider |doch |auch |wieder |immer |noch )*(?:falsch|verkehrt|kaputt|schlimmer|unsinn|quatsch|(?:genau )?das gegenteil|der falsche|die falsche|das falsche|fehlerhaft|nicht (?:richtig|korrekt|das\b|was ich|so gemeint|gut genug))\b(?! (?:geschrieben|dokumentiert))
(?:das |es )?(?:stimmt|passt|reicht) (?:so |leider |immer noch |noch |doch |gar |überhaupt )*nicht\b
(?:(?:das|es|dies) )?(?:geht|funktioniert|klappt|läuft|kompiliert|baut|startet|hilft) (?:so |immer noch |noch immer |weiterhin |leider |aber |jetzt |noch |auch |bei mir |wieder |nach wie vor )*nicht\b(?! nur)
(?:immer noch|noch immer|weiterhin|nach wie vor|schon wieder|wieder) (?:der |die |das |ein |den |einen )?(?:gleiche[rn]?|selbe[rn]?|derselbe|dieselbe|denselben|fehler|kaputt|rot|falsch|nicht|fehlgeschlagen|leer|eine? \w*(?:error|exception))\b
(?:derselbe|der gleiche|gleicher|selber|dieselbe|die gleiche) (?:fehler(?:meldung)?|exception)\b(?! (?:soll|muss))
(?:der|die|das|dein\w*) (?:fehler|tests?|build|bug|problem|seite|ausgabe|server|code|ci|linter|import|export|fix|änderung) (?:ist|sind|schlägt|schlagen|bleibt|kommt|tritt|geht|besteht|startet|fällt|fallen|läuft|laufen) (?:immer noch|noch immer|weiterhin|nach wie vor|wieder|jetzt (?:nicht|rot|kaputt))\b
(?:die )?tests? (?:ist|sind|schlägt|schlagen|laufen|läuft|gehen|geht) (?:immer noch|noch immer|weiterhin|jetzt|nicht|wieder|nach wie vor)\b
(?:mache?|machen sie|nimm|nehmen sie|setze?|drehe?|rolle?|baue?) (?:bitte |sofort |mal |jetzt )*(?:das|es|dies|alles|(?:die|deine|den|deinen) (?:letzte[nr]? )?(?:änderung(?:en)?|commit|schritt)) (?:bitte |sofort |mal |jetzt |alles |wieder |komplett )*(?:rückgängig|zurück|weg)\b
(?:(?:die|deine|den|das) (?:letzte[nr]? )?(?:änderung(?:en)?|commit|schritt)|das|alles) (?:bitte )?(?:wieder )?(?:zurücknehmen|rückgängig|verwerfen|zurücksetzen|zurückrollen)\b
(?:rückgängig(?: machen)?|zurücksetzen|zurückrollen|verwerfen) *(?:[.!,]|\Z)
(?:mache?|stelle?|setze?|lass) (?:es|das|alles) (?:bitte )?(?:wieder )?(?:genau )?(?:so,? )?wie (?:vorher|zuvor|früher|vorhin|es war)\b
stelle? (?:bitte )?(?:den (?:alten|vorherigen|ursprünglichen|letzten) (?:stand|zustand)|die (?:alte|vorherige|ursprüngliche|letzte) (?:version|fassung|datei)) (?:bitte )?wieder her\b
(?:zurück|geh zurück) (?:zum|zur) (?:alten|vorherigen|letzten|ursprünglichen) (?:stand|version|fassung|zustand)\b
du hast (?:(?!nichts|kein|nie|nicht\b)[\w\-äöüß.]+ ){0,5}(?:kaputt ?gemacht|kaputt|zerstört|gelöscht|vergessen|überschrieben|falsch verstanden|missverstanden|ignoriert|übersehen|entfernt|falsch gemacht)\b
du hast (?:gar |überhaupt |noch |wieder )*(?:nichts (?:geändert|gemacht|getan|behoben)|nicht (?:getestet|gemacht|verstanden|zugehört|gelesen))\b
jetzt (?:ist|sind) (?:wieder |nun )?(?:alles|es|das|der \w+|die \w+|das \w+)(?: \w+)? (?:kaputt|rot|leer|weg|schlimmer|falsch)\b
jetzt (?:geht|gehen|startet|funktioniert|läuft|kompiliert|baut|klappt|lädt) (?:[\wäöüß]+ ){0,3}(?:nicht|nichts|kein\w*)\b
jetzt (?:kommt|bekomme|kriege|gibt|fliegt|wirft|habe|erscheint) (?:[\wäöüß]+ ){0,3}[\w-]*(?:error|exception|fehler\w*)\b
jetzt (?:stürzt|schlägt|schlagen|crasht|hängt|bricht|fehlt|fehlen)\b(?! (?:nur|bloß|noch))
falsche[rsnm]? (?:datei|ansatz|branch|ordner|verzeichnis|stelle|richtung|weg|funktion|klasse|zweig|projekt|version|antwort|reihenfolge) ?(?:[.,!:;—–-]|\Z)
falsch ?(?:[.,!:;—–-]|\Z)
so (?:war|ist|hatte|habe|hab|wollte|meinte|sollte) (?:das|es|ich)(?: das| es)? (?:aber |doch |ja |gar |wirklich )*nicht\b
das (?:habe|hab|wollte|meinte|sollte|war) (?:ich |es )?(?:so |doch |gar |aber |ja )*nicht\b(?! (?:nur|schlecht|schwer|falsch))
nicht (?:so ?[.,!]|so\Z|richtig\b|korrekt\b|das,? was|was ich\b)
ich (?:habe|hab|hatte) (?:dir )?(?:doch |ja |ausdrücklich |extra |mehrfach )*gesagt,?(?! bekommen)
ich (?:wollte|habe|hab) (?:doch |aber |ja )*(?:gar |überhaupt |nie )?(?:kein\w*|nicht|nie)\b(?= .{0,60}(?:gebeten|verlangt|gewollt|gesagt|gemeint|abhängigkeit|umbau|neu|ändern|änderung|refactor|\.|!|\Z))
(?:warum|wieso|weshalb) hast du .{0,80}?(?:gelöscht|entfernt|geändert|überschrieben|kaputt|angefasst|weggelassen|rausgenommen|ignoriert|umgeschrieben)\b
(?:das|es) hat (?:leider |aber |gar |überhaupt |mir |sich )*(?:nichts|nicht) (?:gebracht|geholfen|geändert|funktioniert|behoben|gelöst|geklappt|verändert|repariert)\b
(?:das |es )?(?:wird|macht es|wurde) (?:nur |noch |alles |jetzt )*schlimmer\b
(?:genau )?das gegenteil\b
(?:quatsch|unsinn|blödsinn)\b
(?:kaputt|immer noch rot) ?(?:[.,!]|\Z)
"""
_FR: Final = r"""
(?:ça|il|elle|le \w+|la \w+) (?:affiche|utilise|renvoie|retourne|donne|contient|montre|prend) (?:toujours|encore)\b
j'ai dit (?:pas de|non|de ne pas|sans)\b
(?:le|la|les) [\w' ]{1,24}? (?:est|sont) (?:complètement|totalement|maintenant|toujours|encore) (?:cassée?s?|vides?|faux|fausses?|rouges?)
c'est une? (?:solution |idée |correction )?(?:horrible|affreuse?|nulle?|mauvaise?|stupide|moche)
arrête(?: ça| de faire ça)?(?: ?[.,!]|\Z)
c'est (?:exactement |tout )?(?:l'inverse|l'opposé|le contraire)\b
(?:c'est |encore )?(?:pire|plus lent) qu'avant
(?:le|la|les|l')\s?[\w']+ (?:échoue|échouent|plante|plantent|bloque|ne passe|ne passent|ne démarre|ne fonctionne) (?:pas|plus|maintenant|toujours|encore|à nouveau)\b(?! (?:sur|chez|pour))
(?:ça|cela) (?:a|m'a) (?:effacé|supprimé|écrasé|perdu|détruit|enlevé)
je (?:le|la|les|l') ?(?:voulais|veux|avais demandé) .{1,40}?,? pas (?:dans|en|sur|le|la|pour|avec)\b
tu (?:l'|les |me l')?(?:as|l'as|les as) (?:mis|mise|placé|manqué|raté|oublié|ajouté|écrit) .{0,20}?(?:mauvais|deuxième|mal\b)
ce (?:changement|correctif|code) (?:ne sert à rien|est inutile|est faux|n'est pas)
(?:reviens|retourne) en arrière
maintenant (?:ça|il|elle|tout) bloque
(?:ça|cela) ne (?:correspond|respecte|suit|convient|répond) pas
(?:enlève|retire) (?:ça|cela),
(?:ça|cela) (?:a l'air|semble|paraît) (?:faux|cassé|incorrect)
(?:l'api|ça|elle|il|ce n'est pas) ne (?:marche|fonctionne) pas comme ça
tu (?:as triché|as menti|t'es trompé|te trompes|as inventé)
(?:ce n'était|c'était|ce n'est) pas une bonne
(?:le|la|les|ton|ta) (?:résultat|sortie|total|réponse|tests?|build|ci|code|solution|import|format|page|ordre) (?:est|sont|n'est|ne sont) (?:toujours |encore |maintenant |complètement )*(?:faux|fausse|incorrecte?s?|cassée?s?|rouges?|vides?|pas (?:correct|bon|bonne|juste)\w*)\b
(?:ça|cela|tu) (?:a|as) (?:tout |encore )*(?:cassé|planté|détruit|supprimé|aggravé|empiré|reformaté|inventé|réécrit|désactivé|dupliqué|modifié l'api|changé l'api)\b
(?:tu as|tu n'as fait|tu n'as corrigé|tu n'as|tu as juste|t'as juste) (?:fait |corrigé |changé )*que (?:la moitié|une partie|le)\b
j'ai (?:toujours |encore |maintenant )?(?:une|un|la même|le même|des) [\w\s-]{0,20}?(?:erreurs?|exception|trace|[45]\d\d)\b.{0,20}?(?:maintenant|encore|toujours|\.|!|\Z)
(?:ça|cela) (?:n'aide|ne sert|n'apporte|ne change|ne donne|n'a) (?:vraiment |toujours )?(?:rien|à rien|pas (?:marché|aidé|changé|corrigé|suffi|résolu|l'air (?:bon|correct)))\b
(?:ça|cela) (?:n'a )?(?:rien|pas) (?:donné|aidé|servi)
(?:ça|cela|il|elle)? ?(?:échoue|plante|casse|crashe) (?:encore|toujours|à nouveau|de nouveau|maintenant)\b
c'est (?:exactement|précisément|justement) ce que je (?:t'avais|t'ai|vous ai)? ?(?:dit|demandé) de ne pas
(?:annule|annulez|défais|retire|enlève) (?:s'il te plaît )?(?:tes|ta|ton|toutes tes|tous tes) [\w]+
(?:ça|il|elle) (?:compile|démarre|tourne|marche)(?: maintenant)?,? mais\b.{0,50}(?:échou|erreur|faux|plant|pas|cass)
ce n'(?:était|est) pas (?:la|une|ma|le|un|mon) (?:vraie )?(?:question|solution|réponse|correction|but|bonne|bon|sujet)\b
pourquoi (?:le|la|les) .{1,30}? (?:est|sont)(?:-il|-elle)? (?:maintenant )?(?:vides?|cassée?s?|rouges?|supprimée?s?|disparue?s?)
(?:le|la|les) [\w'é]+ ne (?:fait|font) rien\b
cette? (?:fonction|méthode|option|classe|fichier|api|module) n'existe pas
(?:la )?ci est (?:rouge|cassée|en échec)
toujours (?:aucune?|pas de|rien)\b
tu ne (?:devais|dois) pas (?:toucher|modifier|supprimer|changer)\b
remets tout(?: en place| comme| à)\b
c'est (?:toujours |encore |complètement |totalement |vraiment |juste )*(?:faux|incorrect|cassé|pire|mauvais|n'importe quoi|une erreur|le mauvais|la mauvaise|l'inverse|le contraire)\b(?! positif)
(?:ce |ça |cela )?n'est (?:toujours |vraiment |absolument )?pas (?:ça|ce que|correct|bon\b|juste|corrigé|résolu|réparé|du tout|comme ça|la bonne|le bon|normal)
c'est (?:toujours )?pas (?:ça|ce que|correct|bon\b|juste|corrigé|résolu|comme ça|la bonne|le bon)
(?:ce |ça |cela )?n'était pas (?:ça|ce que)
(?:ça|cela|ceci|il|elle) (?:ne )?(?:marche|fonctionne|compile|démarre|tourne|passe|change|résout|corrige) (?:toujours |encore |même |vraiment |plus )*(?:pas|plus|rien)\b(?! (?:sur|pour les|chez|sans|seulement)\b)
(?:ne )?(?:marche|fonctionne|compile|démarre) (?:toujours |encore |même )*(?:pas|plus)\b
(?:ça|cela) n'a (?:toujours |vraiment )?(?:rien|pas) (?:corrigé|résolu|marché|fonctionné|changé|aidé|réparé|réglé)
(?:ça|cela|il|elle) (?:plante|échoue|casse)(?: (?:toujours|encore|maintenant|au)\b| ?[.,!:]|\Z)
(?:toujours|encore) (?:la même |le même |les mêmes |une |un |des |cette |cet )?(?:erreurs?|cassée?|rouges?|faux|bug|problème|pas (?:bon|ça|corrigé)|en échec|l'erreur|vide)\b
(?:la même|même) (?:erreur|exception)(?: (?:encore|toujours|qu'avant)\b| ?[.,!:]|\Z)
(?:l'|le |la |les |ton |ta |tes )(?:erreur|bug|problème|tests?|build|ci|page|serveur|code|sortie|résultat|correctif|correction) (?:est |sont |échoue |échouent |plante |reste |persiste |ne (?:passe|passent|marche|démarre) )?(?:toujours|encore|maintenant cassée?|pas|plus)\b
(?:il y a|j'ai) (?:toujours|encore|maintenant) (?:la même |le même |une |un |des |cette |les )?[\w-]*(?:erreurs?|error|exception|échecs?|bug|problème)\b
(?:annule|annulez|reviens sur|défais|supprime|retire|enlève) (?:tout|ça|cela|tout ça|(?:ta|tes|ton|la|les|le) (?:dernières?|derniers?)?\s?(?:modifications?|changements?|commit|modif))\b(?! (?:de la|du|des)\b)
(?:annule|annulez|défais)-(?:le|la|les|moi)\b
(?:annule|annulez|annuler) *(?:[.!,]|\Z)
(?:reviens|revenez|retourne) (?:en arrière|à (?:la version|l'état) (?:précédente?|d'avant|initiale?|d'origine))\b
(?:remets|remettez|laisse|laissez|refais) (?:tout |le fichier |le code |ça |les choses )?comme (?:c'était|avant|il était|elle était|au début)\b
(?:tu as|t'as|vous avez) (?:tout |encore |complètement |juste |carrément )*(?:cassé|supprimé|effacé|oublié|écrasé|ignoré|mal (?:compris|fait|lu)|détruit|raté|enlevé)\b
(?:tu|vous) (?:n'as|n'avez|as|avez) (?:rien|pas|toujours pas|même pas) (?:compris|changé|modifié|fait|corrigé|lancé|testé|lu|écouté|suivi|mis à jour)\b
maintenant (?:ça|tout|rien|le \w+|la \w+|elle)(?: \w+)? (?:plante|échoue|bloque|est cassée?|ne (?!manque)|n'(?!est plus que)|casse)
maintenant (?:j'ai|il y a) (?:une|un|des) [\w-]*(?:erreurs?|error|exception|échecs?)
plus rien (?:ne )?(?:marche|fonctionne|démarre)
(?:mauvais|mauvaise) (?:fichier|approche|branche|dossier|répertoire|endroit|fonction|direction|version|réponse|idée|classe) ?(?:[.,!;—–]|\Z)
faux ?(?:[.,!;—–]|\Z)
incorrect ?(?:[.,!;—–]|\Z)
je (?:t'avais|t'ai|vous ai|vous avais) (?:pourtant |bien )?dit (?:de ne pas|que non|de laisser|pas)\b
je (?:n'ai|n'avais|ne t'ai|ne t'avais|ne voulais|t'ai) (?:jamais |pas )+(?:demandé|voulu|dit|ça)\b
je ne (?:voulais|veux) pas (?:ça|de |que tu)
(?:je n'ai|j'ai) (?:jamais|pas) demandé\b
pourquoi (?:est-ce que )?(?:tu as|as-tu|t'as|avez-vous|vous avez) (?:\w+ )?(?:supprimé|effacé|enlevé|cassé|écrasé|modifié|changé|touché|retiré|ignoré|réécrit)\b
rien (?:n'a|ne) (?:changé|change|marche|fonctionne)\b
pas comme ça\b
n'importe quoi\b
"""
_ES: Final = r"""
(?:sigue|siguen|sigo) (?:mostrando|usando|recibiendo|devolviendo|viendo|obteniendo|teniendo|lanzando|imprimiendo|poniendo)\b
(?:eso|esto) no (?:cambió|cambia|cambió|arregló|resolvió|hizo) nada
(?:borraste|eliminaste|rompiste|olvidaste|cambiaste|quitaste|sobrescribiste) (?:también |además |todo |toda )*(?:el|la|los|las|mi|mis|todo)\b
(?:ya )?(?:te )?dije que (?:sin|no|nada)\b
no me (?:refería|refiero) a\b
(?:el|la|los|las) [\wáéíóú]+ (?:está|están|quedó|quedaron) (?:completamente|totalmente|ahora|todavía|aún) (?:rot|mal|vací|en rojo)
es una? (?:solución |idea )?(?:horrible|mala|terrible|pésima|fea)
deja de hacer (?:eso|esto)
no (?:has entendido|entendiste|comprendiste|has comprendido) (?:el|la|lo|nada)
es (?:justo |exactamente )?lo contrario\b
(?:es |está )?(?:peor|más lento) que antes
(?:el|la|los|las) [\wáéíóú]+ (?:falla|fallan|no pasan?|se cuelga|devuelve null|se rompe)(?: (?:ahora|otra vez|todavía)\b| ?[.,!]|\Z)
(?:eso|esto) (?:ha )?(?:borró|borrado|eliminó|eliminado|sobrescribió|perdió)\b
l[oa]s? (?:quería|quiero|pedí) (?:en|con|para|como) .{1,40}?,? no (?:en|con|para|como|el|la)\b
l[oa] (?:pusiste|has puesto|metiste|colocaste) .{0,20}?(?:equivocad|mal\b|incorrect)
se te (?:pasó|olvidó|escapó|ha pasado|ha olvidado)\b
(?:ese|este|tu|el) (?:cambio|arreglo|commit) (?:no sirve|es inútil|está mal|sobra|no hace)
vuelve atrás
ahora se queda (?:colgad|bloquead|parad)
ni de (?:lejos|cerca|broma)
(?:eso|esto|así) no (?:cumple|corresponde|respeta|coincide|sigue)
(?:quita|saca|elimina) (?:eso|esto),
parece (?:incorrect|equivocad|mal\b|rot)
(?:la api|eso|esto) no (?:funciona|va|es) así
(?:hiciste|has hecho) trampa|te (?:equivocaste|has equivocado|inventaste)
no (?:fue|ha sido|era) (?:una )?buena
(?:el|la|los|las|tu) (?:resultado|salida|total|respuesta|tests?|pruebas|build|ci|código|solución|formato|orden|página) (?:está|están|es|son|sigue|no (?:es|está|son)) (?:todavía |aún |ahora )*(?:mal|incorrect[oa]s?|rot[oa]s?|en rojo|vací[oa]s?|equivocad[oa]s?|correct[oa]s?(?<=no es correct[oa])|en rojo)\b
(?:eso|esto|tu cambio|has|lo has)? ?(?:rompió|ha roto|empeoró|ha empeorado|reformateado|reformateaste|inventaste|inventado|reescribiste|duplicaste|desactivaste)\b
(?:ahora )?(?:me )?(?:da|sale|lanza|devuelve|aparece|tengo|obtengo|veo) (?:todavía |aún |ahora |otra vez |siempre )*(?:un |una |el |la )?(?:mism[oa] )?(?:error|excepción|fallo|traza|[45]\d\d)\b
no (?:sirve|ayuda|vale|hace nada|tiene efecto|ha servido|sirvió|ha funcionado|funcionó|ha ayudado|ha cambiado)(?: ?[.,!:]|\Z| de nada| para nada)
(?:falla|fallan|se cae|peta|se rompe) (?:otra vez|de nuevo|todavía|aún|ahora|igual)\b
(?:eso|esto) es (?:justo|exactamente|precisamente) lo que (?:te |no )?(?:te )?(?:dije|pedí)\b
(?:deshaz|revierte|descarta|quita|anula) (?:por favor )?(?:tus|todos tus|todas tus|tu) \w+
(?:compila|arranca|funciona)(?: ahora)?,? pero\b.{0,50}(?:fall|error|mal|no\b|romp)
(?:solo|sólo|solamente) (?:has hecho|hiciste|arreglaste|cambiaste|has arreglado|borraste|has cambiado)\b
(?:esa|eso|esto|ese) no (?:era|es) (?:la|una|mi|el|un|mi) (?:verdadera )?(?:pregunta|solución|respuesta|arreglo|punto|problema|idea)\b
¿?por qué (?:está|están) .{0,30}?(?:vací[oa]|rot[oa]|borrad[oa]|en rojo)
(?:el|la) \w+ no hace nada\b
es[ea] (?:función|método|opción|archivo|clase|api|módulo) no existe
(?:el )?ci está en rojo
sigue sin\b|siguen sin\b
no (?:tenías|debías) que \w+|no debías \w+
devuelve(?:lo)? todo a como estaba
(?:eso|esto|así|todo|ahora)?\s?(?:está|estaba|es|era|queda|quedó) (?:todavía |aún |muy |completamente |totalmente |todo |ahora )*(?:mal\b|incorrect[oa]|equivocad[oa]|rot[oa]|peor|un error|lo contrario|al revés)(?! escrit)
(?:eso|esto|ese|esa|este|así|aquello)? ?no (?:es|era|fue|está|estaba) (?:nada |todavía |aún )?(?:lo que|correct[oa]|así|eso|esto|bien\b|el (?:archivo|fichero)|la (?:rama|función)|arreglad[oa]|resuelt[oa]|cierto)
(?:eso|esto|ese cambio|tu (?:cambio|arreglo|solución))? ?(?:todavía |aún |sigue |ya )?no (?:funciona|compila|arranca|sirve|ayuda|ayudó|funcionó|lo arregla|arregla|resuelve|pasa|va|anda|se (?:arregló|ha arreglado|resolvió|corrigió))(?: (?:todavía|aún|bien|así|nada))*(?: ?[.,!:;]|\Z| (?:todavía|aún|nada|ni|el (?:build|login|import)|y|porque|con el mismo)\b)
(?:sigue|siguen|continúa|continúan) (?:sin (?:funcionar|compilar|pasar|arrancar|arreglar)|fallando|falla|igual\b|rot[oa]s?|mal\b|en rojo|dando|saliendo|apareciendo|el mismo|la misma|con el mismo|vací[oa])
(?:todavía|aún) (?:falla|fallan|está (?:mal|rot)|no (?:funciona|compila|está)|da error|hay (?:un )?error|sale|da el)\b
(?:el |la )?mism[oa] (?:error|problema|fallo|excepción)(?: (?:otra vez|de nuevo|todavía|aún|que antes)\b| ?[.,!:]|\Z)
(?:el|la|los|las|tu|tus) (?:error|fallo|bug|problema|tests?|pruebas|build|ci|página|servidor|código|salida|resultado|cambio|arreglo) (?:todavía |aún )?(?:sigue|siguen|no (?:pasan?|arranca|funciona|compila)|fallan? (?:ahora|otra vez)|está (?:rot|en rojo|mal))
(?:deshaz|revierte|anula|descarta|quita|deshace|revertí|deshacé) (?:todo|eso|esto|(?:el|la|los|las) últim[oa]s? (?:cambios?|commit|modificación|edición)|tus? (?:últimos? )?(?:cambios?|commit)|lo que (?:hiciste|has hecho))\b
(?:deshazlo|reviértelo|deshacelo|revertilo|anúlalo|quítalo|descártalo)(?: todo)?\b
(?:deshaz|revierte|deshacer|revertir) *(?:[.!,]|\Z)
(?:vuelve|regresa|volvé) (?:a (?:la|el) (?:versión|estado|código) (?:anterior|previ[oa]|original|inicial)|atrás|a como estaba)\b
(?:vuelve a |vuelve y )?(?:déjalo|dejarlo|deja todo|dejalo|ponlo|pon todo|devuélvelo|restáuralo)(?: todo)?(?: otra vez)? (?:como (?:estaba|antes)|igual que antes|a como estaba)\b
(?:has|lo has|la has|rompiste|borraste|olvidaste|te olvidaste|eliminaste|sobrescribiste|quitaste|ignoraste|te has|se te) ?(?:(?!no\b|nada)(?:roto|borrado|olvidado|eliminado|sobrescrito|empeorado|ignorado|quitado|estropeado|cargado|dañado|de\b|el\b|la\b|los\b|las\b|mi\b|mis\b|todo\b|olvidó))
(?:no me has entendido|me (?:entendiste|has entendido) mal|no (?:entendiste|has entendido|me entendiste)|malinterpretaste)\b
no (?:cambiaste|has cambiado|hiciste|has hecho|arreglaste|has arreglado) nada\b
no (?:ejecutaste|has ejecutado|corriste|actualizaste|has actualizado) (?:los|las|el|la)\b
(?:no ha cambiado|no cambió|nada (?:ha )?(?:cambiado|cambió|funciona))(?: nada)?\b
ahora (?:está|están|es|todo está) (?:todo |aún |incluso )?(?:rot[oa]s?|peor|mal|vací[oa]|en rojo)\b
ahora (?:ya )?(?:el \w+ |la \w+ |todo |nada |los \w+ |las \w+ )?(?:ya )?(?:no (?:funciona|arranca|compila|carga|pasan?|inicia)|falla|fallan|se (?:cuelga|cae|rompe)|peta|nada funciona)
ahora (?:sale|da|hay|aparece|tengo|me (?:sale|da)|lanza) (?:un |una |otro |otra |el |la )?[\w-]*(?:error|excepción|exception|fallo)
(?:archivo|fichero|enfoque|rama|lugar|carpeta|directorio|función|dirección|versión|clase) (?:equivocad[oa]|incorrect[oa]) ?(?:[.,!:;]|\Z)
(?:mal|incorrecto|equivocado|falso) ?(?:[.,!;]|\Z)
te (?:dije|pedí|he dicho|había dicho) (?:claramente |ya |explícitamente )?que no\b
(?:yo )?(?:no (?:te )?(?:pedí|he pedido|dije|quería)|nunca (?:te )?pedí)\b(?! perdón| preguntar)
¿?por qué (?:has |me has |lo has )?(?:borraste|borrado|eliminaste|eliminado|quitaste|quitado|cambiaste|cambiado|rompiste|roto|sobrescribiste|tocaste|tocado|ignoraste|reescribiste)\b
así no\b(?! (?:más|importa))
lo (?:empeoraste|rompiste)\b
"""
_ZH: Final = r"""
错(?:[。！，,.!]|\Z)
(?:还是|仍然|依然|仍)(?:显示|返回|用的?|旧|老|[45]\d\d|打印|出来)
.{0,10}(?:还是|仍然|依然|仍) ?[45]\d\d
(?:这|你|它|这个|这次|你的改动)(?:又)?(?:把|让).{1,20}?(?:弄坏|搞坏|改坏|弄乱|搞乱|坏了|崩了|挂了|没了)
什么(?:变化|效果|作用|反应)(?:都|也)没(?:有)?
(?:测试|构建|CI)(?:是|全是|都是|还是)红的?
.{0,6}(?:布局|样式|格式|顺序|界面|页面|代码)(?:全|都|完全|又|被)(?:乱|坏|错|崩|毁)了
(?:这个|你的|这)(?:方案|办法|做法|实现|写法)(?:太|很|真|实在)?(?:糟|差|烂|蠢|丑|不好)
别(?:这么|这样|再)(?:干|做|改|搞|弄)
你(?:没|没有|根本没|完全没)(?:理解|明白|看懂|搞懂|听懂)
为(?:什么|啥)(?:要)?(?:改|动)(?:了)?(?!名字为|成功)
(?:跟|和|与)我(?:要|想|说|需要).{0,4}(?:的)?(?:正好|刚好|完全)?(?:相反|不一样|不同|不符)
(?:比|反而比)(?:之前|以前|原来|刚才)(?:还|更)?(?:糟|差|慢|坏)
(?:没有|没|不)，?(?:还是|仍然|依然)(?:红|失败|错|不)
你(?:漏|少|忘|删|放|写|改|加|用|搞|弄)(?:掉|了|改|写|错)?(?:了)?(?:.{0,12}(?:第二|另一|调用|错|地方)|错.{0,6}了?)
.{0,8}?现在(?:一直|就|又|都)?(?:报|出现|抛|失败|卡|挂|崩|超时)
(?:这|那|它)(?:把|又把|直接把)我.{1,14}(?:删|覆盖|清空|弄丢|毁)
我(?:要|想要|需要)的是.{1,30}(?:不是|而不是)
(?:这个|这|你的|那个)(?:改动|修改|方案|修复|提交|代码)(?:没(?:有)?(?:意义|用|必要)|不对|有问题|是错的|不行|多余)
(?:测试)?(?:跑不过|过不了|跑不通)
(?:退回|回到|恢复到)(?:去)?(?:吧|旧版|之前|原来|上一)
差得?(?:太)?远|差远了
(?:完全)?不(?:符合|满足)(?:规范|要求|需求|预期)
(?:接口|函数|结果|页面|它).{0,16}(?:，|,)?这(?:是|就是|也)?(?:错的|不对|有问题)
把(?:这个|那个|它|这些)(?:去掉|删掉|拿掉|移除|撤掉)
(?:看起来|看上去|好像|似乎)(?:就|还是|也)?(?:不对|有问题|错了|坏了)
.{0,8}不是这么(?:用|写|做|算|改)
你(?:作弊|撒谎|骗|瞎编|编造|搞反|弄反|理解反)
这(?:可|真)?不是(?:(?:个|一个)?(?:好主意|好办法)|我(?:要|想|说)的)
(?:结果|输出|总数|顺序|格式|答案|数字|内容)(?:还|都|又|全)?(?:是)?(?:错的|错误的|不对|不正确|空的|有问题)(?!时)
.{0,10}?(?:被你|让你)(?:全|都|又)?(?:改坏|弄坏|搞坏|删|改没|弄没|搞乱|改乱)
现在.{0,12}?(?:报|返回|出现|抛)(?:了)?(?:错|异常|[45]\d\d|\w*error)
(?:没啥|没什么|没多大|不管|不起|没起)(?:用|作用|效果)(?:，|。|！|\Z|了)
这(?:正是|就是|恰恰是)我(?:说|让你|叫你|告诉你)(?:过)?(?:不要|别|不许)
把.{1,20}?(?:改动|修改|更改|提交|变更)(?:都|全部|全)?(?:撤销|撤回|回滚|还原|恢复|退回)
(?:又|再次|还是)(?:失败|崩溃|挂|报错|出错|红|超时)(?:了)?
(?:能|可以)(?:编译|运行|启动|跑).{0,4}?但是?.{0,20}(?:失败|报错|错|不|崩)
你(?:就|只|才)(?:改|做|修|完成)(?:了)?(?:一半|一部分|一个)
我(?:问|说|要|指)的(?:不是|并不是)
.{1,10}?怎么(?:变|就|全|都)?(?:空|没|坏|红|挂)了
(?:按钮|点击|点了|点).{0,6}(?:没反应|没有反应|不起作用|无效)
(?:根本|压根)(?:就)?(?:没有|没|不存在|不是|不能|不行)
(?:.{0,8}(?:后|之后|以后|现在|完) ?)?(?:ci|CI|构建|测试) ?(?:就|全|都)(?:红了|挂了|失败了)
这(?:不叫|不算|算什么|哪里?是|不是)(?:修复|修|解决|解决方案|方案)
你把.{1,24}?(?:格式化|重写|重构|改名|删|改|注释)(?:了|掉)
(?:不管用|不好使|不起作用|没作用)
(?:还是|依然|仍然|仍)(?:没有|没|无|不)
你(?:不该|不应该|不能|不可以)(?:动|改|删|碰)
(?:全部|都|全)(?:恢复|还原|撤销|回滚|改回)
(?:这个|这样|这|那个|那|它|你|又|全|都|刚才的?|结果|改的|改|测试|方向|思路|完全|明显|现在|肯定|好像|似乎|是|里|么|做|地方|文件){0,4}(?:不对(?![称齐外应比照话等劲着于吗么呢])(?!的话)|错了(?![吗么没呢])|弄错|搞错|改错|改坏|写错|做错|搞坏|弄坏|理解错|误解|不正确(?!的)|有误|是错的|不是这样|不是(?:我|这个意思)|不是.{0,4}(?:要的|想要的)|没(?:有)?(?:解决|修好|改对|生效|改好|变化|效果|反应|修复)|没(?:有)?用(?![到过户的于])|是?不行(?!的话|就|，?就)|行不通|不能用|还?没好|没过|没通过|不通过|跑不通|跑不起来|一样的错)
(?:这|那|它|这个|那个|结果)?(?:还是|依然|仍然|仍|依旧|又|继续)(?:会|在|有|是|出现|一样)*(?:报错|失败|出错|错的|不行|不对|不能|错|没通过|没过|不通过|一样的?错误?|同样的?错误?|崩溃|空的?|没|不工作|有问题|老样子|这个错误)
(?:测试|构建|编译|问题|错误|bug|页面|程序|服务|服务器|它|这个|这)(?: )?(?:还是|依然|仍然|仍|依旧|还|又)(?:会|在|有)*(?:失败|报错|没过|没通过|不通过|在(?!写|做|跑)|存在|出现|不行|不对|没(?:过|通过|好|修|解决)|崩)
(?:问题|错误|bug) ?(?:还在|依旧|仍在|没解决|没有解决)
(?:测试|构建|编译|ci) ?(?:没过|没通过|挂了|不过|失败了|不通过|全挂|红了)
(?:现在|这下|结果)?(?:就|完全|根本|直接|服务器|服务|程序|页面)*(?:运行不了|运行不起来|跑不了|启动不了|无法启动|无法运行|无法编译|编译不了|打不开|用不了|登录不了|崩溃了|崩了)
现在(?:页面|程序|服务|全|都|又|反而|更|连|就|整个|什么都)*(?:是空白|空白|报错|坏了|挂了|错了|启动不了|不能|没了|糟|红了|失败)
你(?:又|怎么|还|刚才|居然|竟然|直接)?(?:把|给)(?!.{0,20}[?？]?\Z(?<=吗)).{1,20}?(?:搞坏|弄坏|改坏|删了|删掉了|覆盖|去掉了|弄丢|破坏|改没|改乱|弄乱|写死)
你(?:又|好像|还|完全|根本)?(?:忘了|忘记了?|漏了|漏掉了|漏改|忽略了|没(?:有)?(?:改|跑|运行|测试|理解|听|按|看)|误会|删错|改错|理解错|没动)
(?:撤销|撤回|回滚|回退|还原|恢复)(?:\Z|吧|掉|刚才|这|那|上|你|所有|全部|更改|修改|改动|它|一下|到(?:之前|上一|原来|改动前)|成?(?:原来|原样|之前|改动前)|[，。！])
(?:改|换|变|弄)回(?:来|去|原来|之前|原样)
为(?:什么|啥|何)(?:要|你|把|又|会)*(?:删|去掉|改掉|改了|覆盖|动了|移除|撤|破坏)(?!除失败)
你?(?:为什么|怎么|为啥)(?:又|要|会)?把.{1,20}?(?:删|去掉|改|覆盖|移除|弄|搞)
你(?:为什么|怎么|为啥)(?:又|要|会|还)?(?:删|改|动|覆盖|去掉|忽略|没)
我(?:都|明明|已经|不是|之前|早)?(?:说过|说了|讲过|告诉过你)(?:吗|让你)?(?:不要|别|不用|不能|不许)
我(?:没|没有|从没|并没有?)(?:让|叫|要求|要|说)(?:你)?
我(?:不是|要的不是|想要的不是|说的不是)(?:这个|这样|那个|要|让)
谁(?:让|叫)你
(?:什么都|什么也|啥都|一点都|完全|根本|都)没(?:有)?(?:变|改|动|做|生效|修)
(?:越改越|更|反而更|越来越)(?:糟|差|坏|乱)
(?:没|没有)(?:任何|什么)?(?:效果|变化|反应|解决|修好)(?!的)(?!时)
(?:不是)我(?:要|想|说|的意思)
别(?:这样|动)(?:改|做|了)?(?:[，。！]|\Z)
"""
_JA: Final = r"""
まだ(?:古い|前の|以前の|元の|間違った).{1,20}?(?:です|ます|ている|まま)
.{1,16}?(?:まで|も全部|を勝手に)(?:消し|削除し|変え|変更し|書き換え)(?:ました|た)(?:ね|よ|か)?
何も(?:変わり|起き|起こり|直り|表示され)ません(?:でした)?
.{1,20}?(?:作るな|書くな|やるな|するな|いじるな)と(?:言|い)(?:いました|った|って)
.{1,16}?(?:が|は)(?:まだ|また|相変わらず) ?[45]\d\d
.{1,14}?(?:が|は)(?:完全に|全部|ぐちゃぐちゃに|全て)?(?:崩れ|乱れ|めちゃくちゃにな|ずれ)(?:ました|た|て)
(?:ひどい|酷い|最悪な?|悪い|駄目な)(?:解決|方法|コード|実装|設計|案|修正)
(?:それ|これ)は?やめて(?:ください|下さい)?(?:[。！]|\Z)
.{1,12}?を(?:理解して|分かって|わかって)(?:い)?(?:ません|ない)
.{0,14}?(?:正反対|真逆|あべこべ)(?:です|だ|に|[。！]|\Z)
(?:前|以前|さっき|元)より(?:も)?(?:悪|ひど|酷|遅)
.{1,20}?(?:を|が)(?:見落として|忘れて|飛ばして|抜かして)(?:い)?(?:ます|る)(?!か)
.{1,20}?(?:失敗する|エラーになる|落ちる|動かなくなる|壊れる)ようになりました
.{0,14}?(?:データ|ファイル|設定|変更|コード)(?:が|も)(?:全部)?(?:消えました|消えた|なくなりました|上書きされ)
.{1,20}?(?:ではなく|じゃなく)(?:て)?.{1,20}?(?:ほしかった|欲しかった|と言いました|のつもり|です、?と)
(?:間違った|違う|別の)(?:モジュール|場所|クラス|関数|フォルダ|ブランチ|ところ).{0,4}(?:に|を|で)(?:入れて|書いて|置いて|直して|変更して|追加して)(?:い)?(?:ます|る)
(?:その|この|今の|さっきの)(?:変更|修正|コード)(?:は|には)(?:意味が|必要|無駄|不要|間違|おかし|いらな|要らな|良くな|よくな|だめ|ダメ)
(?:戻して|元に戻して)(?:ください|下さい|ほしい|くれ)?(?:[、。！]|\Z)
(?:今度は|また|ずっと)(?:固ま|止ま|ハング|フリーズ|タイムアウト)
全然(?:違|だめ|ダメ|でき|なって|動)
(?:仕様|要件|要求|期待|指示)(?:と|に|を)(?:合って|一致して|満たして|従って|沿って)(?:い)?(?:ません|ない)
.{1,20}?(?:を返し|になり|が出)(?:ます|る)(?:、|。)(?:間違い|おかしい|違い)
(?:それ|これ)は(?:外して|消して|いらない|いりません|要らない|不要です)(?:[、。！]|\Z)
(?:おかしく|変に|間違って|壊れて)(?:見え|思え)
.{0,14}?そういう(?:使い方|もの|こと|仕様|意味)では(?:ありません|ない)
(?:ずるい|ズルい|ごまかし|嘘)(?:です|だ|を|[。！]|\Z)
(?:良い|いい|よい)(?:考え|アイデア|案|方法)では(?:ありません|なかった|ない)
.{0,12}?(?:が|は|も)?(?:全部|全て|すべて|また|完全に)(?:壊れ|落ち|失敗し|消え|エラーにな)
(?:今度は|また|まだ|相変わらず).{0,20}?(?:返って|出て|出る|失敗|エラー|落ち|出力され(?:ません|ない)|起き(?:ません|ない)|表示され(?:ません|ない))(?!.{0,12}(?:ので|したら|場合|たら))
(?:効き|効か|効い|役に立)(?:ません|ない|ていない|ちません|たない)
(?:それ|これ)は.{0,10}(?:やるな|するな|やらないで|しないで|やめて)
.{1,20}?の変更(?:を|は)(?:全部|すべて)?(?:取り消して|元に戻して|戻して|破棄して|リバートして)(?:ください|下さい)?(?:[。！]|\Z)
(?:また|まだ|再び)(?:も)?(?:失敗し(?!たら|た場合|たとき|ない)|落ち(?!た?ら|た場合|たとき|ない)|壊れ(?!た?ら|た場合|たとき)|エラー(?!処理|が出たら|に?なったら)|クラッシュ(?!し?たら))
(?:結果|出力|合計|順番|順序|形式|答え|数字|値)(?:が|は)(?:まだ|全部|また|全然)?(?:間違|違[いうっ]|おかし|正しくない|空)
.{1,12}?(?:でき|通り?|動き?|起動し?)(?:る|ます|ました)?(?:けど|が|けれど|のですが).{0,20}(?:失敗|エラー|落ち|違|壊|動かな|動きませ)
(?:半分|一部)(?:しか|だけ)(?:直|でき|修正|やって|対応)
(?:聞いて|頼んで|言って|質問して)(?:い)?る(?:の|こと)(?:は|と)(?:それ|これ|そういう|違)
(?:なぜ|なんで|どうして).{1,24}?(?:空に|なくなっ|壊れ|消え|赤に)
.{1,14}?(?:押しても|しても|やっても|実行しても)(?:何も|なにも)?(?:起き|起こら|変わら|反応し|動か|動き)(?:ません|ない)
(?:その|この|そんな)(?:関数|メソッド|ファイル|オプション|クラス|API|モジュール)(?:は|なんて)?(?:存在しません|存在しない|ありません|ない(?:[。よ]|\Z|です))
.{0,16}?(?:CI|ビルド|テスト)(?:が|は)(?:赤|落ちて|失敗して(?:い)?(?:ます|る(?:[。よ]|\Z)))(?!.{0,10}ので)
(?:それ|これ)は(?:修正|解決|直した|対応)(?:では|じゃ|とは|に)(?:なく|ありません|ない|言え|なって)
.{1,20}?(?:して|っ?て|んで|いで)しまいました?ね
(?:うまく|上手く)(?:いき|動き|動い)(?:ません|ない|て(?:い)?ま?せ?ん?な?い?)
.{1,14}?(?:触って|変えて|変更して|消して)は(?:いけ|だめ|ダメ|駄目)
(?:全部|すべて|全て)(?:を)?(?:元通り|元に戻|もとに戻|取り消)
(?:それ|これ|あれ|そこ|全然|まったく|やっぱり|また|まだ|は|も|が|結果|ファイル|場所|方向|仕様|完全に|全部|の|修正|計算|頼んだこと|お願いしたこと|期待した結果|期待|想定|指示|さっき|今回|ちょっと|少し|と)*(?:違い(?:ます(?!か)|ました)|違う(?:[、。！!よ]|\Z|んです|ん(?:だ|じゃ)|と思)|違って(?:い?ます|い?る)|間違い(?:です(?!か)|だ|でした)|間違って(?:い?ます(?!か)|い?る)(?!場合|ところ)|間違えて(?:い?ます|い?る)|そうじゃな|そうでは(?:な|あり)|正しくない(?![入値])|正しくありません|おかしい(?:です(?!か)|[。！]|\Z)|逆です)
(?:そういう|その)(?:意味|こと|つもり)(?:では|じゃ)(?:ありません|ない)
(?:まだ|やはり|やっぱり|相変わらず|依然として?|いまだに|今も|全然|まったく|やっても|これでも|それでも)(?:、)?(?:同じ|動[きかい]|動作し|エラー|失敗|直って|治って|通[りら]|通って|ダメ|だめ|駄目|壊れ|落ち|おかしい|解決し|バグ|赤|出[てま]|空|反映され|できて(?:い)?な)(?!.{0,20}(?:リトライ|再試行|場合|時|たら))
(?:動きません(?!か)|動かない(?:[。！!よ、]|\Z|です|んです|まま)|動作しません(?!か)|動作しない(?:[。！よ]|\Z|です)|動いて(?:い)?(?:ません(?!か)|ない(?:[。！よ]|\Z|です)))
(?:まったく|全く)?(?:同じ|おなじ)エラー(?:です|が|になり|のまま|[。！]|\Z)
(?:テスト|ビルド|CI|コンパイル|サーバー|アプリ|画面|ログイン|ページ|バグ|問題|エラー|出力|結果|表示)(?:が|は|も|に|を)?(?:まだ|やはり|また|相変わらず|全然|今度は|いまだに)(?!.{0,20}(?:追加して|書いて|書い|作って|お願い|ので))(?:.{0,12})(?:失敗|通[らりっ]|通って|エラー|動[かきい]|残って|直って|出て|出ま|落ち|空|赤)
(?:テスト|ビルド|CI)(?:が|は|も)?(?:通って(?:い)?な|通りません|通らない(?:[。！よ]|\Z|です)|落ちて(?:い)?ま|失敗して(?:い)?ます(?!か)|失敗しました|落ちました|赤)
(?:まだ)?(?:直って|治って|修正されて|解決して|反映されて)(?:い)?(?:ません|ない)
(?:問題|バグ|不具合|エラー)(?:は|が)(?:まだ)?(?:解決して|直って|治って|消えて|残って)(?:い)?(?:ません|ない|ます|る)
(?:さっき|今|先ほど|直前|最後|前|この|その|全部|すべて|全て|いま)?(?:の)?(?:変更|修正|編集|コミット|作業|やつ)?(?:を|は)?(?:全部|すべて|全て)?(?:元に戻して|もとに戻して|取り消して|取消して|戻して|リバートして|ロールバックして|やめて)(?:ください|下さい|くれ|ほしい|欲しい|よ|、壊れました)*(?:[。！!、]|\Z)
(?:前|元|以前|最初|変更前)の(?:状態|バージョン|コード|版)に(?:戻して|戻せ)
やり直して
(?:さっき|今|先ほど|直前|最後)の(?:変更|修正|コミット|作業)を.{0,6}(?:取り消|戻|リバート|ロールバック|破棄|なかったこと)
(?:.{0,12}(?:が|を))?(?:壊れました|壊れた(?:[。！よ]|\Z|ままで|んです)|壊れて(?:い)?(?:ます|る)(?:[。！よ]|\Z)|壊しました|壊した(?:ね|よ|な|でしょ)|起動しなくなり?(?:ました|った)|動かなくなり?(?:ました|った)|表示されなくなり?(?:ました|った)|真っ白になり(?:ました)?|落ちるようになり?(?:ました|った))
コンパイル(?:が|も)?(?:通らない|通りません|できません(?!か)|できない(?:[。！よ]|\Z|です)|エラーに)
(?:別の|違う|他の|間違った)ファイルを(?:変更|編集|修正|触)(?:して(?:い)?(?:ます|る)|しました|した|って(?:い)?ます)
(?:なぜ|なんで|どうして)(?:勝手に)?.{1,20}?を?(?:消した|消しました|消してし|削除した|削除しました|削除してし|変えた|変更した|壊した|上書きした|触った)
(?:.{0,15}?)(?:触るな|触らないで|変えるな|変えないで|追加するな|変更しないで|消すな|使うな)(?:ください|下さい)?と(?:言|いい|いった|お願い|伝え)
.{0,15}?(?:とは|なんて|てと|って)(?:言って(?:い)?(?:ません|ない)|頼んで(?:い)?(?:ません|ない))
(?:そんな|こんな)(?:こと|の)(?:は|を)?(?:頼んで|言って|お願いして|求めて)(?:い)?(?:ません|ない)
.{0,12}?(?:を|が)忘れて(?:い)?(?:ます|る)(?!か)
(?:何も|なにも|全く|全然)(?:変わって|変化して|直って|修正されて|変更されて)(?:い)?(?:ません|ない)
(?:悪化し(?:ました|た|てい)|(?:前より|さらに|もっと|余計に?)(?:ひど|悪|酷))
誤解して(?:い)?(?:ます|る)(?!か)
(?:ダメ|だめ|駄目)(?:です(?!か)|だ|でした|[。！、]|\Z)
効果(?:が|は)?(?:ありません|ない)
"""
CORRECTIONS: Final[Mapping[str, str]] = {
    "en": _EN,
    "de": _DE,
    "fr": _FR,
    "es": _ES,
    "zh": _ZH,
    "ja": _JA,
}
